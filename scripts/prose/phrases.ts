/**
 * Phrases that this project's texts do not use, with what to write instead. A phrase is here when
 * it is not what a technical writer of the field would write, or when readers had to read it twice.
 */

export interface Phrase {
  readonly pattern: RegExp;
  /** What to write instead. */
  readonly instead: string;
}

/** What a rate is counted by: "0.4 ms per row", not "0.4 ms a row". */
const counted = [
  "batch board call cell chain class column component coordinate dimension draw event fit graph",
  "group image job key label layer level line map minute model parameter part point process row",
  "sample second seed set site step table task thread time token value worker",
]
  .join(" ")
  .replaceAll(" ", "|");

const phrase = (pattern: RegExp, instead: string): Phrase => ({ pattern, instead });

export const phrases: readonly Phrase[] = [
  phrase(/\bholes?\b/i, "missing value"),
  phrase(
    /(?<!\b(?:power|scaling|bayes') )\blaws?\b(?! of (?:large numbers|total|iterated))/i,
    "distribution (of a random variable), or property, check (of a map)",
  ),
  phrase(/\bwhole[ -]numbers?\b/i, "integer"),
  phrase(/\bone['’]s own\b/i, "custom, or your"),
  phrase(
    /(?<!\bthere )\b(?:is|are|was|were) no (?!longer\b|further\b|bigger\b|larger\b|smaller\b|worse\b|better\b|more than\b|less than\b|slower\b|faster\b)/i,
    "is not a, are not, has no",
  ),
  phrase(/\bno more than half\b/i, "at most half"),
  phrase(/\bnobody has\b/i, "untested, or: no one has"),
  phrase(/\bdoubt(?:s|ed|ful)?\b/i, "warning, suspicious"),
  phrase(/\btold\b(?! (?:from|apart))/i, "set, specified, known, informed"),
  phrase(
    /\b(?:was|were|is|are|be|been|not|as|it) said\b|\bsaid (?:so|once|to be)\b/i,
    "set, stated",
  ),
  phrase(/\basked for\b|\b(?:was|were|is|are) asked\b/i, "requested"),
  phrase(
    /\bdrawn (?:anew|again|from|at random|rows?|boards?|samples?|values?|cells?|labels?)\b/i,
    "sampled, resampled",
  ),
  phrase(/\banew\b/i, "again, or resampled, rewritten"),
  phrase(/\b(?:is|are|was|were) worth\b|\bworth it\b/i, "evaluation (of a model), or pays off"),
  phrase(/\bbeside\b/i, "compared with (a peer), next to (a place)"),
  phrase(
    new RegExp(
      `\\b(?:one|two|three|four|\\d+|a|an) (?!(?:at|take|is|without)\\b)[\\w-]+ a (?:${counted})\\b`,
      "i",
    ),
    "per",
  ),
  phrase(
    new RegExp(`\\b(?:ms|µs|ns|seconds?|minutes?|times|draws|bytes|MB|GB|kB) a (?:${counted})\\b`),
    "per",
  ),
  phrase(/\bdear(?:er|est)?\b/i, "expensive"),
  phrase(/\b(?:take|takes|taken) (?:\w+ ){0,4}along\b/i, "download, include"),
  phrase(/\bsay it\b/i, "apply"),
  phrase(/\b(?:options?|those) that lead\b/i, "guidance options"),
  phrase(/\bdoes not come back\b/i, "say what happens"),
  phrase(/\bthe house\b|\bhouse style\b/i, "the repository, the code base"),
  phrase(/\bmend(?:s|ed|ing)?\b/i, "fix"),
  phrase(/\bto be had\b/i, "available"),
  phrase(/\b(?:has|have|had|with|without) (?:no|an) end\b/i, "does not finish, endless"),
  phrase(/\b(?:thereof|therein|whereof|wherein|hereby|thrice)\b/i, "plain words"),
  phrase(/\bdone again\b/i, "run again"),
  phrase(/\b(?:is|are|was|were) there already\b/i, "exists already"),
  phrase(/\b(?:is|are|near) a coin\b/i, "chance"),
  phrase(/\btells? nothing\b/i, "reveals nothing"),
  phrase(/\bno chance\b/i, "probability zero, likelihood zero"),
  phrase(/\bheld against\b/i, "compared with"),
  phrase(/\bwhoever\b/, "the process, the user, or: any"),
  phrase(/\b(?:becomes?|became) of\b/i, "outcome, or: even if one fails"),
  phrase(/\bnot whole\b/i, "incomplete"),
  phrase(/\bwould change nothing\b/i, "has no effect"),
];
