"""The mean of a distribution of latencies, after it was cut off."""
import math
import re

from records import MS, span


def phi(x):
    return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def below(x):
    return math.erfc(-x / math.sqrt(2)) / 2


def cut_normal(mean, sigma, low, high):
    """The mean of min(max(X, low), high) for a normal X."""
    if not sigma:
        return min(max(mean, low), high)
    a = (low - mean) / sigma
    total = low * below(a)
    if high == math.inf:
        return total + mean * below(-a) + sigma * phi(a)
    b = (high - mean) / sigma
    return total + high * below(-b) + mean * (below(b) - below(a)) + sigma * (phi(a) - phi(b))


def mean_latency(text):
    """Of network.latency of a resolved configuration, in ms; None: links differ."""
    if not text.startswith("{"):
        return span(text) / MS
    keys = dict(re.findall(r"(\w+): (\[[^\]]*\]|[^,}]+)", text))
    law = keys["distribution"]

    def key(name, default=None):
        return span(keys[name]) / MS if name in keys else default
    low, high = key("min", 0), key("max", math.inf)
    if law == "constant":
        return key("mean")
    if law == "uniform":
        return (low + high) / 2
    if law == "normal":
        return cut_normal(key("mean"), key("sigma"), low, high)
    if law == "lognormal":
        median, sigma = key("median"), float(keys.get("sigma", 0))
        if high == math.inf or not sigma:
            return min(median * math.exp(sigma ** 2 / 2), high)
        z = math.log(high / median) / sigma
        return median * math.exp(sigma ** 2 / 2) * below(z - sigma) + high * below(-z)
    if law == "exponential":
        return low + (key("mean") - low) * -math.expm1(-(high - low) / (key("mean") - low))
    if law == "pareto":
        alpha, high = float(keys["alpha"]), min(high, 24 * 3600e3)
        if alpha == 1:
            return low * (1 + math.log(high / low))
        return low * (alpha - (high / low) ** (1 - alpha)) / (alpha - 1)
    if law == "quantiles":
        v = [span(x.strip()) / MS for x in keys["values"].strip("[]").split(",")]
        return sum(a + b for a, b in zip(v, v[1:])) / 2 / (len(v) - 1) if len(v) > 1 else v[0]
    return None
