"""Find the key: three samplers, judged by their chains and by their keys."""

from course_pkg.checks._keys import KEY_TWICE, PARENT
from solutions.mcmc._keys import BELL, MANY_STEPS, NO_KEY, SKEWED, Case, key_record

ACCEPTS_ALL = "You accept everything, or nearly so: the coin has no say, and the chains stray from the target. What is compared with what?"
ONE_TARGET = (
    "Right for a standard normal with {0} = {1}, and not for another target with another {0}. Is something of the first written into your "
    "function, or does something hold only for a target that is symmetric?"
)
FIRST_SPECIAL, THIRD_SPECIAL = ONE_TARGET.format("scale", 2.4), ONE_TARGET.format("h", 1.2)
UPSIDE_DOWN = "Now the ratio is upside down: the chains flee from where the density is high. It was right."
SPLIT = "jax.random.split(key)"
GAIN = "log_density(y) - log_density(x)"
KEYS = {PARENT: f"{SPLIT} -> key, {SPLIT}[1]", NO_KEY: f"{SPLIT} -> jax.random.split(jax.random.key(0))"}
FIRST = key_record(
    (Case(BELL, 2.4), Case(SKEWED, 1.7)),
    right="Right. Exact draws stay exact draws, as often as the step is repeated.",
    nudge="Not the step that was asked for. From exact draws of a standard normal, with scale = 2.4, 44 in 100 proposals are accepted, "
    "and the places stay standard normal. Has each chain a noise and a coin of its own?",
    special=FIRST_SPECIAL,
    hints=(
        "The formula for the ratio is right. Which of the proposals are refused too often, those to the left or those to the right? "
        "How could the coin know where the proposal goes?",
        "A key determines its bits. uniform(key) and normal(key) are made of the same ones, one growing with the other. Two draws need "
        "two keys, and split makes them.",
        "Begin with `noise_key, coin_key = jax.random.split(key)`",
    ),
    mistakes={
        "The chains still lean to one side. Draw the noise and the uniform number from the same key and print them next to each other.": f"{SPLIT} -> key, key",
        FIRST_SPECIAL: f"{GAIN} -> (x**2 - y**2) / 2",
        ACCEPTS_ALL: f"{GAIN} -> jnp.exp({GAIN})",
        UPSIDE_DOWN: f"{GAIN} -> log_density(x) - log_density(y)",
        "You compared a number between 0 and 1 with a logarithm, so no step down is ever taken. Take the logarithm of the coin as well.": "jnp.log(coin) -> coin",
    }
    | KEYS,
)


def loop(noise, coin, accepted=f"jnp.log(u) < {GAIN}"):
    """The chain with other keys at step t."""
    return f"""
    for t in range(steps):
        y = x + scale * jax.random.normal({noise}, x.shape)
        u = jax.random.uniform({coin}, x.shape)
        x = jnp.where({accepted}, y, x)
    return x
    """


fold = lambda number: f"jax.random.fold_in(key, {number})"
SECOND = key_record(
    (Case(BELL, 2.4, chain=True), Case(SKEWED, 1.7, chain=True)),
    right=f"Right. Exact draws stay exact, and in {MANY_STEPS} steps no key was drawn from twice.",
    nudge="Not that chain. From exact draws the places stay exact draws after any number of steps; with steps = 1, scale = 2.4 and a "
    "standard normal target 44 in 100 chains have moved. Has each chain, at each step, a noise and a coin of its own?",
    special=FIRST_SPECIAL,
    hints=(
        "Every step by itself is right, as the first line of the output shows. So something passes from one step to the next that "
        "should not. Make a table: the step, the key of its noise, the key of its coin.",
        "fold_in(key, t + 1) is the coin's key at step t. Whose key is it at step t + 1? Make two keys for each step that appear "
        "nowhere else in the table.",
        "Begin with `for step_key in jax.random.split(key, steps):`",
    ),
    mistakes={
        "Still a lean. Write down the keys of noise and coin for four steps: does one occur twice?": loop(fold("t"), fold("t + 1")),
        "They still lean. Coin and noise share their key, in neighbouring steps.": loop(
            fold("t"), fold("t + 1"), f"jnp.log1p(-u) < {GAIN}"
        ),
        "Now noise and coin share a key within each step, as in Part 1.": loop(fold("t"), fold("t")),
        "Each step proposes with the same noise: its key never changes.": loop(fold("10_000"), fold("t")),
        "Each step tosses the same coin: its key never changes.": loop(fold("t"), fold("10_000")),
        KEY_TWICE: loop(fold("t"), fold("t + 50")),
        PARENT: """
            for _ in range(steps):
                y = x + scale * jax.random.normal(key, x.shape)
                key, coin = jax.random.split(key)
                x = jnp.where(jnp.log(jax.random.uniform(coin, x.shape)) < log_density(y) - log_density(x), y, x)
            return x
            """,
        FIRST_SPECIAL: "log_density, scale -> lambda z: -(z**2) / 2, scale",
    },
)
LOG_U, WAYS = "jnp.log(jax.random.uniform(u_key, x.shape))", "+ log_s(x, y) - log_s(y, x)"
THIRD = key_record(
    (Case(BELL, 1.2, pushed=True), Case(SKEWED, 0.8, pushed=True)),
    right="Right. The proposal alone would settle near the target and not on it; what is refused is the difference.",
    nudge="Not the step that was asked for. From exact draws of a standard normal, with h = 1.2, the places stay standard normal, and "
    "most proposals are accepted, though not all. Has each chain a noise and a coin of its own?",
    special=THIRD_SPECIAL,
    hints=(
        "Print how many proposals are accepted. Are there any that should be refused?",
        "log u < log r, or u < r. The log of a number below 1 is negative; what is the sign of the other side?",
        "Begin with `move_key, u_key = jax.random.split(key)`, and give the push a function of its own: it is needed at both ends.",
    ),
    mistakes={
        ACCEPTS_ALL: "< log_r -> < jnp.exp(log_r)",
        "A number between 0 and 1 is compared with a logarithm: no ratio below 1 is ever accepted.": f"{LOG_U} -> jax.random.uniform(u_key, x.shape)",
        "You compare the densities only. The push differs from place to place; that part was right.": f"{WAYS} -> ",
        "The proposals have changed places: the one that leads back belongs above the bar, as it was.": f"{WAYS} -> - log_s(x, y) + log_s(y, x)",
        THIRD_SPECIAL: f"{GAIN} -> (x**2 - y**2) / 2",
        KEY_TWICE: f"{SPLIT} -> key, key",
    }
    | KEYS,
)
TASKS = {"first": FIRST, "second": SECOND, "third": THIRD}
