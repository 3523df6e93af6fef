"""The table "Where the CPU time goes" that docs/benchmarks.md shows below a section's figures."""


def lines(profile):
    """What the page has for a profile."""
    text = ["Where the CPU time goes:", "", f"    {profile['command']}", "",
            f"Profile of {profile['date']} at commit {profile['commit']}, on {profile['machine']}.",
            f"It has {profile['samples']:,} samples, one for each millisecond of CPU time. A row's last two columns are "
            "shares of the row's own time.", "",
            "| process and thread | of all CPU time | what it is spent on | functions of its own |", "|---|---|---|---|"]
    return text + [f"| {name(row)} | {share(row['share'])} | {spent(row['spent'])} | {functions(row['own'])} |"
                   for row in profile["rows"]]


def name(row):
    return f"thread {row['thread']}" if row["thread"] else f"**{row['process']}**"


def share(percent):
    return f"{percent:.0f} %" if percent >= 10 else f"{percent:.1f} %"


def spent(shares):
    return ", ".join(f"{what} {share(percent)}" for what, percent in shares)


def functions(shares):
    return ", ".join(f"`{function}` {share(percent)}".replace("|", "\\|") for function, percent in shares)
