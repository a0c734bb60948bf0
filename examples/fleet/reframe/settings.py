"""ReFrame's configuration: this machine, boxes that ssh reaches, and a cluster with Slurm.

FLEET_BOXES names the boxes (default: box1 box2 box3), FLEET_SSH has further options of ssh, and
FLEET_SLURM further options of sbatch, such as `--partition=compute`.
"""

import os
import shlex
from typing import Any

ENVIRONMENT = "builtin"


def partition(name: str, scheduler: str, **more: Any) -> dict[str, Any]:
    """A partition whose jobs run one at a time: two at once would disturb each other."""
    return {
        "name": name,
        "scheduler": scheduler,
        "launcher": "local",
        "environs": [ENVIRONMENT],
        "max_jobs": 1,
        **more,
    }


boxes = os.environ.get("FLEET_BOXES", "box1 box2 box3").split()

site_configuration = {
    "systems": [
        {
            "name": "fleet",
            "hostnames": [".*"],
            "partitions": [
                partition("here", "local"),
                partition(
                    "boxes",
                    "ssh",
                    access=shlex.split(os.environ.get("FLEET_SSH", "")),
                    sched_options={"ssh_hosts": boxes},
                    max_jobs=len(boxes),
                ),
                partition(
                    "cluster",
                    # Slurm without its accounting database; `slurm` for one with it.
                    "squeue",
                    access=shlex.split(os.environ.get("FLEET_SLURM", "")),
                    max_jobs=100,
                ),
            ],
        }
    ],
    "environments": [{"name": ENVIRONMENT, "target_systems": ["fleet"]}],
}
