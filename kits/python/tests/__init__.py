"""Tests of the kit and of the examples: python3 -m unittest, in kits/python."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))
