#!/bin/bash
# Runs one short trial of each system that people run with each fault of its servers, and of the elections among
# servers, and says what came of it: how long no client entered. Then it looks whether anything is left: programs,
# mounts, folders. A system that is not installed is skipped with a word; with CI=true that is a failure.
#
