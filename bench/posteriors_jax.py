"""Leapfrog steps of posteriors in JAX, float64, four chains, one thread: on every line `run NAME` takes 50 steps, one call of a
compiled function each, and on `run NAME/scan` 5,000 steps in one compiled loop; the answer is the processor's milliseconds."""
import os

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
import jax
import jax.numpy as jnp
from posteriors_tasks import answer, data_of

jax.config.update("jax_enable_x64", True)
CHAINS, SIZE = 4, 0.01


def eight_schools():
    data = data_of("eight_schools")
    y, sigma = jnp.array(data["y"]) * 1.0, jnp.array(data["sigma"]) * 1.0

    def log_density(x):
        t, mu, s = x[:8], x[8], x[9]
        tau = jnp.exp(s)
        prior = -0.5 * (t * t).sum() - 0.5 * (mu / 5) ** 2 - jnp.log1p((tau / 5) ** 2) + s
        return prior - 0.5 * (((y - mu - tau * t) / sigma) ** 2).sum()

    return 10, log_density


def ar_k():
    data = data_of("arK")
    y, k = jnp.array(data["y"]) * 1.0, data["K"]
    lags = jnp.stack([y[k - 1 - j : len(y) - 1 - j] for j in range(k)], -1)
    seen = y[k:]

    def log_density(x):
        alpha, beta, s = x[0], x[1 : 1 + k], x[1 + k]
        sigma = jnp.exp(s)
        residual = seen - (alpha + lags @ beta)
        prior = -0.5 * (alpha / 10) ** 2 - 0.5 * ((beta / 10) ** 2).sum() - jnp.log1p((sigma / 2.5) ** 2) + s
        return prior - 0.5 * ((residual / sigma) ** 2).sum() - len(seen) * s

    return 2 + k, log_density


def low_dim_gauss_mix():
    y = jnp.array(data_of("low_dim_gauss_mix")["y"]) * 1.0

    def log_density(x):
        m1, step, s, u = x[0], x[1], x[2:4], x[4]
        mu = jnp.stack([m1, m1 + jnp.exp(step)])
        sigma = jnp.exp(s)
        weight = jnp.stack([jax.nn.log_sigmoid(u), jax.nn.log_sigmoid(-u)])
        scaled = (y[:, None] - mu) / sigma
        parts = -0.5 * scaled * scaled + (weight - s)
        prior = -0.5 * ((mu / 2) ** 2).sum() - 0.5 * ((sigma / 2) ** 2).sum() + 4 * weight.sum()
        return jax.nn.logsumexp(parts, -1).sum() + prior + step + s.sum() + weight.sum()

    return 5, log_density


def leapfrog(make):
    n, log_density = make()
    slope_at = jax.vmap(jax.value_and_grad(log_density))

    def step(state, _):
        x, p, slope = state
        p = p + 0.5 * SIZE * slope
        x = x + SIZE * p
        value, slope = slope_at(x)
        p = p + 0.5 * SIZE * slope
        return (x, p, slope), 0.5 * (p * p).sum(-1) - value

    start = (jnp.full((CHAINS, n), 0.1), jnp.ones((CHAINS, n)), jnp.zeros((CHAINS, n)))
    one = jax.jit(lambda state: step(state, None))
    loop = jax.jit(lambda state: jax.lax.scan(step, state, None, length=5000))

    def steps():
        state = start
        for _ in range(50):
            state, energy = one(state)
            energy.tolist()

    def scan():
        jax.block_until_ready(loop(start))

    return {"": steps, "/scan": scan}


makers = {"eight_schools": eight_schools, "arK": ar_k, "low_dim_gauss_mix": low_dim_gauss_mix}
tasks = {name + kind: task for name, make in makers.items() for kind, task in leapfrog(make).items()}
for task in tasks.values():
    task()
answer(f"JAX {jax.__version__}", tasks)
