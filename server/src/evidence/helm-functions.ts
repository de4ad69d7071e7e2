import { isExchange, isSlip } from '../catalog/spelling.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { shorten } from '../yaml/shorten.ts';
import { findActions } from '../yaml/template-action.ts';
import { isHelmTemplate, type UnreadableAction } from '../yaml/unreadable-actions.ts';

/**
 * The functions of a template's actions that Helm does not have, if one that it has is a slip away, and its objects without the dot before them.
 * Other unknown functions may be those of another program that renders the template.
 */
export function misspelledFunctions(text: string): readonly UnreadableAction[] {
  if (!isHelmTemplate(text) || text.includes('{%')) return [];
  return findActions(text).flatMap(({ span, text: action }) => {
    if (!action.startsWith('{{') || /^\{\{-?\s*\/\*/.test(action)) return [];
    // Strings may contain anything.
    const code = action.replace(/"(?:[^"\\\n]|\\.)*"|`[^`]*`|'(?:[^'\\\n]|\\.)*'/g, (quoted) =>
      ' '.repeat(quoted.length),
    );
    return [...code.matchAll(call)].flatMap(({ 0: all, 1: word = '', index }) => {
      const message = problemOf(word, code.charAt(index + all.length));
      const start = span.start + index + all.length - word.length;
      return message === undefined ? [] : [{ span: { start, end: start + word.length }, message }];
    });
  });
}

const why = 'Helm fails to read the chart';

function problemOf(word: string, after: string): string | undefined {
  if (after === '.') return objects.has(word) ? `${word} needs a dot before it, as in .${word}: ${why}` : undefined;
  if (functions.has(word)) return undefined;
  for (const known of functions)
    if (isSlip(word, known) || isExchange(word, known))
      return `Helm has no function ${shorten(word)}; did you mean ${known}? ${why}`;
  return undefined;
}

/** A word where a function may be: at the start of an expression. */
const call = /(?:\{\{-?\s|[|(]|:?=|\b(?:if|with|range|else)\s)\s*([A-Za-z]\w{2,40})(?![\w"'`-])/g;

const objects = wordSet('Values Release Chart Capabilities Files Template');

/**
 * The functions and keywords of Go's templates, of Sprig, of Helm and of helmfile.
 * https://github.com/Masterminds/sprig/blob/master/functions.go, https://github.com/helm/helm/blob/main/pkg/engine/funcs.go
 */
const functions = wordSet(
  'and block break call continue define dot else end eq false ge gt html if index js le len lt ne nil not or print printf println range slice template true',
  'urlquery with',
  'abbrev abbrevboth add add1 add1f addf adler32sum ago all any append atoi b32dec b32enc b64dec b64enc base bcrypt biggest buildCustomCert camelcase cat ceil',
  'chunk clean coalesce compact concat contains date dateInZone dateModify date_in_zone date_modify decryptAES deepCopy deepEqual default derivePassword dict',
  'dig dir div divf duration durationRound empty encryptAES env expandenv ext fail first float64 floor fromJson genCA genCAWithKey genPrivateKey',
  'genSelfSignedCert genSelfSignedCertWithKey genSignedCert genSignedCertWithKey get getHostByName has hasKey hasPrefix hasSuffix hello htmlDate',
  'htmlDateInZone htpasswd indent initial initials int int64 isAbs join kebabcase keys kindIs kindOf last list lower max maxf merge mergeOverwrite min minf mod',
  'mul mulf mustAppend mustChunk mustCompact mustDateModify mustDeepCopy mustFirst mustFromJson mustHas mustInitial mustLast mustMerge mustMergeOverwrite',
  'mustPrepend mustPush mustRegexFind mustRegexFindAll mustRegexMatch mustRegexReplaceAll mustRegexReplaceAllLiteral mustRegexSplit mustRest mustReverse',
  'mustSlice mustToDate mustToJson mustToPrettyJson mustToRawJson mustUniq mustWithout must_date_modify nindent nospace now omit osBase osClean osDir osExt',
  'osIsAbs pick pluck plural prepend push quote randAlpha randAlphaNum randAscii randBytes randInt randNumeric regexFind regexFindAll regexMatch',
  'regexQuoteMeta regexReplaceAll regexReplaceAllLiteral regexSplit repeat replace rest reverse round semver semverCompare seq set sha1sum sha256sum sha512sum',
  'shuffle snakecase sortAlpha split splitList splitn squote sub subf substr swapcase ternary title toDate toDecimal toJson toPrettyJson toRawJson toString',
  'toStrings trim trimAll trimPrefix trimSuffix trimall trunc tuple typeIs typeIsLike typeOf uniq unixEpoch unset until untilStep untitle upper urlJoin',
  'urlParse uuidv4 values without wrap wrapWith',
  'fromJsonArray fromToml fromYaml fromYamlArray include lookup mustToToml mustToYaml required toToml toYaml toYamlPretty tpl',
  'envExec exec expandSecretRefs fetchSecretValue hasExec isDir isFile readDir readDirEntries readFile requiredEnv setValueAtPath getOrNil',
  'from import in macro set',
);
