"""The study of word segmentation, without the network."""

from __future__ import annotations

import json

import numpy as np
import pytest

import probative as pv
from probative import files as resume
from probative_studies import segmentation as segmenter_runs
from probative_studies.segmentation import SegmenterRun, segmentation_study

pytest.importorskip("pycrfsuite")

LEXICON = ["ab", "c", "abc", "de", "d", "e", "fg", "gh", "f"]


def corpus(seed, number):
    rng = np.random.default_rng(seed)
    return [[LEXICON[i] for i in rng.integers(0, len(LEXICON), 7)] for _ in range(number)]


TRAIN, DEV, TEST = corpus(1, 60), corpus(2, 10), corpus(3, 40)


@pytest.fixture
def files(tmp_path):
    paths = []
    for name, sentences in (("train", TRAIN), ("dev", DEV), ("test", TEST)):
        path = tmp_path / f"{name}.txt"
        path.write_text("".join(" ".join(words) + "\n" for words in sentences))
        paths.append(path)
    return paths


@pytest.fixture(scope="module")
def study():
    return segmentation_study(TRAIN, DEV, TEST, systems=["maxmatch", "crf"], sizes=[10, 20, 40])


def test_scores_are_those_of_score_and_compare(study):
    outputs = {run.system: run.words for run in study.runs if run.sentences == 60}
    assert list(outputs) == ["maxmatch", "crf"]
    alone = pv.score(TEST, outputs["crf"], task="segmentation")[0]
    assert study.comparisons["crf"].counts == alone.counts
    assert study.comparisons["crf"]["recall"].low == alone["recall"].low
    direct = pv.compare(TEST, *outputs.values(), metric="recall", task="segmentation")
    assert study.comparisons.comparisons[0].pvalue == direct.comparisons[0].pvalue
    assert {c.metric for c in study.comparisons.comparisons} == {"recall", "precision", "f1"}


def test_the_sweep_is_that_of_the_last_system_with_probabilities(study):
    run = next(run for run in study.runs if run.system == "crf" and run.sentences == 60)
    assert study.sweep_system == "crf"
    again = pv.segmentation_sweep(TEST, run.probabilities)
    assert again.counts == study.sweep.counts
    only = segmentation_study(TRAIN, DEV, TEST, systems=["maxmatch"])
    assert only.sweep is None
    assert only.observations == ()
    assert only.curve == ()


def test_the_curve_marks_where_precision_falls_and_recall_rises(study):
    assert [point.sentences for point in study.curve] == [10, 20, 40, 60]
    steps = list(zip(study.curve, study.curve[1:], strict=False))
    expected = {
        (a.sentences, b.sentences)
        for a, b in steps
        if a.scores["recall"].estimate < b.scores["recall"].estimate
        and a.scores["precision"].estimate > b.scores["precision"].estimate
    }
    assert {(r.smaller, r.larger) for r in study.reversals} == expected


def test_a_reversal_is_found_and_tested(monkeypatch):
    """Outputs made so that the larger training set finds more words and adds more false ones."""

    def run_of(system, corpora, size, **_):
        outputs = [list(words) for words in corpora.test.words]
        for i, words in enumerate(outputs):
            text = "".join(words)
            if size == 10 and i % 2:
                outputs[i] = [text]  # one wrong word instead of seven right ones
            if size > 10 and i % 2:
                outputs[i] = words[:1] + list("".join(words[1:]))
        return SegmenterRun(system, size, 0.0, "nowhere", words=outputs)

    monkeypatch.setattr("probative_studies.segmentation.run_of", run_of)
    study = segmentation_study(TRAIN, DEV, TEST, systems=["maxmatch"], sizes=[10])
    (reversal,) = study.reversals
    assert (reversal.smaller, reversal.larger) == (10, 60)
    assert reversal.recall.difference > 0 > reversal.precision.difference
    assert reversal.recall.pvalue < 0.05
    assert "from 10 to 60 sentences" in study.observations[-1]
    assert "confirmed, in 1 of 1 steps" in study.observations[-1]


def test_a_study_resumes_without_training_again(files, tmp_path, monkeypatch, study):
    how = {"systems": ["maxmatch", "crf"], "sizes": [10, 20, 40], "folder": tmp_path / "runs"}
    first = segmentation_study(*files, **how)
    assert {path.name for path in (tmp_path / "runs").iterdir()} == {
        "run.json",
        "maxmatch-60.json",
        "crf-60.json",
        "crf-40.json",
        "crf-20.json",
        "crf-10.json",
    }
    (tmp_path / "runs/crf-20.json").unlink()
    trained = []
    original = segmenter_runs._train

    def counting(system, segmenter, train, *rest):
        trained.append((system, len(train.words)))
        return original(system, segmenter, train, *rest)

    monkeypatch.setattr(segmenter_runs, "_train", counting)
    again = segmentation_study(*files, **how)
    assert trained == [("crf", 20)]
    for one in (again, study):
        assert one.sweep.to_dict() == first.sweep.to_dict()
        assert [str(p) for p in one.curve] == [str(p) for p in first.curve]
        assert str(one) == str(first)


def test_a_folder_of_another_run_is_refused(tmp_path):
    how = {"systems": ["maxmatch"], "folder": tmp_path}
    segmentation_study(TRAIN, DEV, TEST, **how)
    with pytest.raises(pv.InputError, match=f"{tmp_path}: holds the results of another run: test"):
        segmentation_study(TRAIN, DEV, TEST[:-1], **how)
    with pytest.raises(pv.InputError, match=r"maxmatch-60\.json: holds another part: model is"):
        segmentation_study(TRAIN, DEV, TEST, spaces=False, **how)
    (tmp_path / "maxmatch-60.json").write_text("{")
    with pytest.raises(pv.InputError, match="cannot be read"):
        segmentation_study(TRAIN, DEV, TEST, **how)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"boundaries": ["1"] * 40}, "boundaries do not fit"),
        ({"boundaries": None}, "TypeError"),
        ({"probabilities": None}, "probabilities do not fit"),
        ({"probabilities": [[2.0] * 20] * 40}, "probabilities do not fit"),
        ({"seconds": "1"}, "seconds do not fit"),
        ({"machine": 5}, "machine do not fit"),
        ({"system": "maxmatch"}, "system and sentences do not fit"),
        ({"losses": [[1, 2, 3]], "best_epoch": 1}, "ValueError"),
        ({"losses": [[1, 2]], "best_epoch": 2}, "losses do not fit"),
    ],
)
def test_what_is_kept_is_checked(tmp_path, changes, message):
    how = {"systems": ["crf"], "folder": tmp_path}
    segmentation_study(TRAIN, DEV, TEST, **how)
    path = tmp_path / "crf-60.json"
    content = json.loads(path.read_text())["content"]
    content["result"] |= changes
    path.write_bytes(resume.seal(content))
    with pytest.raises(pv.InputError, match=rf"crf-60\.json: cannot be read \(.*{message}"):
        segmentation_study(TRAIN, DEV, TEST, **how)
    del content["result"]["boundaries"]
    path.write_bytes(resume.seal(content))
    with pytest.raises(pv.InputError, match=r"crf-60\.json: cannot be read \("):
        segmentation_study(TRAIN, DEV, TEST, **how)


def test_a_file_of_another_size_is_noticed(tmp_path):
    how = {"systems": ["crf"], "sizes": [10, 20], "folder": tmp_path}
    segmentation_study(TRAIN, DEV, TEST, **how)
    (tmp_path / "crf-10.json").write_bytes((tmp_path / "crf-20.json").read_bytes())
    with pytest.raises(pv.InputError, match=r"crf-10\.json: holds another part: sentences is 20"):
        segmentation_study(TRAIN, DEV, TEST, **how)


@pytest.mark.parametrize("folder", ["file/below", "x" * 5000, "file"])
def test_an_unusable_folder_is_told_before_training(tmp_path, monkeypatch, folder):
    (tmp_path / "file").touch()
    monkeypatch.setattr(segmenter_runs, "_train", None)
    with pytest.raises(pv.InputError, match="cannot be used"):
        segmentation_study(TRAIN, DEV, TEST, systems=["maxmatch"], folder=tmp_path / folder)


def test_systems_that_are_not_installed_are_named(monkeypatch, run, files):
    monkeypatch.setattr(segmenter_runs, "available", lambda system: system == "maxmatch")
    monkeypatch.setattr(
        "probative_studies.segmentation.available", lambda system: system == "maxmatch"
    )
    train, dev, test = files
    shown = run("study", "segmentation", "--train", train, "--dev", dev, "--test", test, "-v")
    assert shown.status == 0
    assert "bigru is left out: it needs torch (pip install 'probative[neural]')" in shown.err
    with pytest.raises(pv.InputError, match=r"needs torch; install it with: pip install"):
        segmentation_study(TRAIN, DEV, TEST, systems=["bigru"])


def test_the_command_leaves_tables_figures_outputs_and_json(run, files, tmp_path):
    train, dev, test = files
    out, page = tmp_path / "out", tmp_path / "page.html"
    words = ["study", "segmentation", "--train", train, "--dev", dev, "--test", test]
    words += ["--systems", "maxmatch,crf", "--step", 20, "--language", "zh", "-o", out]
    shown = run(*words, "--resume", tmp_path / "runs", "--html", page)
    assert shown.status == 0, shown.err
    assert "published, Chinese" in shown.out
    assert "published, English" not in shown.out
    assert page.read_text(encoding="utf-8").count("<svg") >= 2
    assert {path.name for path in out.iterdir()} == {
        "study.json",
        "tables.md",
        "figure1.png",
        "figure1.svg",
        "figure2.png",
        "figure2.svg",
        "maxmatch.txt",
        "crf.txt",
        "probabilities.jsonl",
    }
    content = json.loads((out / "study.json").read_text(encoding="utf-8"))
    assert content["command"] == "study segmentation"
    assert [point["sentences"] for point in content["curve"]] == [20, 40, 60]
    assert content["published"]["zh"]["recall"] == 0.9346
    assert json.loads(run(*words, "--resume", tmp_path / "runs", "-f", "json", "-q").out) == content
    # what was written can be scored and swept by the other commands
    scored = json.loads(
        run("score", test, out / "crf.txt", "--task", "segmentation", "-f", "json").out
    )
    assert scored["systems"][0]["counts"] == content["systems"][1]["counts"]
    swept = json.loads(run("sweep", test, out / "probabilities.jsonl", "-f", "json").out)
    assert swept["best"] == content["sweep"]["best"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--sizes", "10,x"], "--sizes: 'x' is not a whole number"),
        (["--sizes", "9" * 5000], "--sizes: '999"),
        (["--sizes", "10", "--step", "5"], "--step: cannot be combined"),
        (["--step", "0"], "--step: 0"),
        (["--systems", "crf,lstm"], "systems: unknown 'lstm'"),
        (["--language", "de"], "--language: unknown 'de'"),
        (["--format", "yaml"], "--format: unknown 'yaml'"),
    ],
)
def test_wrong_options_are_refused_at_once(refused, files, options, message):
    train, dev, test = files
    words = ["--train", train, "--dev", dev, "--test", test, "-q"]
    assert message in refused("study", "segmentation", *words, *options)
