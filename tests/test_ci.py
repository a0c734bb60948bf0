"""ci/ab.sh, the script of the GitHub Action, with programs that stand for `hairspring` and `gh`."""

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

HAIRSPRING = """#!/bin/sh
printf '%s\\n' "$@" >>"$CALLS/hairspring"
if [ "$1" = ab ]; then printf '%s' "$DOCUMENT"; exit "$STATUS"; fi
echo '| verdicts |'
"""

# The second comment is that of an earlier run, if there is one.
GH = """#!/bin/sh
printf '%s\\n' "$@" >>"$CALLS/gh"
case "$*" in *--paginate*) printf '%s' "$EARLIER"; exit "$GH_STATUS" ;; esac
"""


class Job:
    """A job of GitHub Actions in a repository with two commits."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.variables = {
            "PATH": f"{folder}/bin:{os.environ['PATH']}",
            "HOME": str(folder),
            "CALLS": str(folder),
            "RUNNER_TEMP": str(folder),
            "GITHUB_OUTPUT": str(folder / "output"),
            "GITHUB_STEP_SUMMARY": str(folder / "summary"),
            "GITHUB_REPOSITORY": "an/owner",
            "DOCUMENT": "{}",
            "STATUS": "0",
            "EARLIER": "",
            "GH_STATUS": "0",
            "HAIRSPRING_BASE": "",
            "HAIRSPRING_HEAD": "HEAD",
            "HAIRSPRING_OPTIONS": "",
            "HAIRSPRING_FILTERS": "",
            "HAIRSPRING_COMMENT": "true",
            "HAIRSPRING_VERSION": "none",
        }
        (folder / "bin").mkdir()
        for name, text in (("hairspring", HAIRSPRING), ("gh", GH)):
            program = folder / "bin" / name
            program.write_text(text, encoding="utf-8")
            program.chmod(0o755)
        self.repository = folder / "repository"
        self.git("init", "--quiet", str(self.repository), inside=False)
        for message in ("first", "second"):
            who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
            self.git(*who, "commit", "--quiet", "--allow-empty", "-m", message)

    def git(self, *words: str, inside: bool = True) -> str:
        """What git prints."""
        where = self.repository if inside else self.folder
        done = subprocess.run(
            ["git", *words], cwd=where, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def of_pull_request(self, base: str) -> None:
        """The event of a pull request with this base."""
        event = self.folder / "event.json"
        event.write_text(
            json.dumps({"pull_request": {"number": 7, "base": {"sha": base}}}), encoding="utf-8"
        )
        self.variables["GITHUB_EVENT_PATH"] = str(event)

    def run(self, **variables: str) -> subprocess.CompletedProcess[str]:
        """Runs the script with further variables."""
        return subprocess.run(
            [str(ROOT / "ci/ab.sh")],
            cwd=self.repository,
            env={**self.variables, **variables},
            check=False,
            capture_output=True,
            text=True,
        )

    def text(self, name: str) -> str:
        """A file that the job wrote."""
        file = self.folder / name
        return file.read_text(encoding="utf-8") if file.exists() else ""


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """A job."""
    return Job(tmp_path)


def test_a_push_is_compared_with_the_commit_before(job: Job) -> None:
    ended = job.run(HAIRSPRING_OPTIONS="--threshold 2% --build 'make bench'")
    assert ended.returncode == 0, ended.stderr
    words = job.text("hairspring").splitlines()
    expected = ["ab", "--json", "--threshold", "2%", "--build", "make bench", "--", "HEAD^", "HEAD"]
    assert words[: len(expected)] == expected
    assert job.text("summary") == "| verdicts |\n"
    assert "status=0" in job.text("output") and "document=" in job.text("output")
    assert not job.text("gh")


def test_a_pull_request_gets_one_comment(job: Job) -> None:
    base = job.git("rev-parse", "HEAD^")
    job.of_pull_request(base)
    assert job.run().returncode == 0
    assert base in job.text("hairspring").splitlines()
    assert "POST" in job.text("gh") and "repos/an/owner/issues/7/comments" in job.text("gh")
    assert job.run(EARLIER="12\n34\n").returncode == 0
    assert "PATCH" in job.text("gh") and "repos/an/owner/issues/comments/34" in job.text("gh")
    assert job.text("hairspring-ab.md").startswith("<!-- hairspring ab -->\n")


def test_an_exceeded_threshold_fails_the_job_after_the_comment(job: Job) -> None:
    job.of_pull_request(job.git("rev-parse", "HEAD^"))
    ended = job.run(STATUS="3", HAIRSPRING_FILTERS="parse 'a b'")
    assert ended.returncode == 3 and "::error title=Hairspring::a threshold" in ended.stdout
    assert "POST" in job.text("gh") and job.text("summary")
    assert "HEAD\nparse\na b\n" in job.text("hairspring")


def test_a_token_that_may_not_write_is_a_warning(job: Job) -> None:
    job.of_pull_request(job.git("rev-parse", "HEAD^"))
    ended = job.run(GH_STATUS="1")
    assert ended.returncode == 0 and "::warning title=Hairspring::the comment" in ended.stdout


def test_a_base_that_is_not_there_is_fetched(job: Job) -> None:
    origin = str(job.repository)
    base = job.git("rev-parse", "HEAD^")
    job.git("clone", "--quiet", "--depth=1", f"file://{origin}", "clone", inside=False)
    job.repository = job.folder / "clone"
    assert job.run(HAIRSPRING_BASE=base).returncode == 0
    assert base in job.text("hairspring").splitlines()
    ended = job.run(HAIRSPRING_BASE="no-such-branch")
    assert ended.returncode == 1 and "there is no commit 'no-such-branch' here" in ended.stdout


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"HAIRSPRING_BASE": "--upload-pack=x"}, "looks like an option"),
        ({"HAIRSPRING_OPTIONS": "--build 'make"}, "has an open quote"),
        ({"HAIRSPRING_VERSION": "0.1.0; true"}, "is no version"),
        ({"DOCUMENT": "", "STATUS": "1"}, "gave no result"),
    ],
)
def test_what_is_wrong_is_said(job: Job, variables: dict[str, str], said: str) -> None:
    ended = job.run(**variables)
    assert ended.returncode in (1, 2) and "::error title=Hairspring::" in ended.stdout
    assert said in ended.stdout


def test_options_expand_nothing(job: Job) -> None:
    assert job.run(HAIRSPRING_OPTIONS="'$(touch here)' `touch` *").returncode == 0
    words = job.text("hairspring").splitlines()
    assert "$(touch here)" in words and "`touch`" in words and "*" in words
    assert not (job.repository / "here").exists()
