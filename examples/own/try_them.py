"""Check the classes of this folder, run them, save and load them."""

import tempfile
from pathlib import Path

from climber import Climber
from duration import Duration, seconds
from parabola import Parabola
from valley import Valley

import dikin


def main() -> None:
    domain = Parabola()
    dikin.check_domain(domain)
    dikin.check_learner(Climber, domain)
    dikin.check_environment(Valley, domain)

    losses = Valley(domain, seed=1)
    learner = Climber(domain, loss_range=losses.loss_range, seed=1)
    print(dikin.play(learner, losses, 1000))
    runs = dikin.replicate(
        lambda seed: Climber(domain, loss_range=losses.loss_range, seed=seed),
        lambda seed: Valley(domain, seed=seed),
        rounds=1000,
        seeds=4,
    )
    print("regret of four runs:", [round(float(run.regret[-1]), 1) for run in runs])

    with tempfile.TemporaryDirectory() as folder:
        file, store = Path(folder, "climber.json"), Path(folder, "studies.db")
        learner.save(file)
        print(dikin.load(file))

        tuner = dikin.Tuner({"wait": Duration("1s", "10min", start="30s")}, seed=1)
        with dikin.Study(store, "wait", tuner) as study:
            for _ in range(20):
                trial = study.ask()
                study.tell(trial, abs(seconds(trial["wait"], "wait") - 90))
            print(study.best)


if __name__ == "__main__":
    main()
