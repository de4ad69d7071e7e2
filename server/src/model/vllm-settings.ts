import type { FlagMeaning } from '../catalog/flag-records.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { meaningOf } from '../command/flag-meaning.ts';
import { wordsOf } from '../command/name-words.ts';
import { asBoolean, asText, type Cursor, entries, getIn, isNull, items, keyOf, type Located } from '../yaml/cursor.ts';
import { text } from './pod.ts';

/**
 * The flags that vLLM's production stack, as a chart and as an operator, writes for a mapping of settings.
 * https://github.com/vllm-project/production-stack, 2026-11-22
 */
export function vllmFlagsOf(settings: Cursor | undefined): readonly Located<string>[] {
  const flags = entries(settings).flatMap((entry): readonly Located<string>[] => {
    const flag = vllmFlags.get(keyOf(entry));
    const value = text(entry);
    return flag === undefined || value === undefined ? [] : [{ value: flag, at: entry }, value];
  });
  return [...flags, ...items(getIn(settings, 'extraArgs')).flatMap((item) => text(item) ?? [])];
}

const vllmFlags: ReadonlyMap<string, string> = new Map([
  ['maxModelLen', '--max-model-len'],
  ['dtype', '--dtype'],
  ['tensorParallelSize', '--tensor-parallel-size'],
  ['maxNumSeqs', '--max-num-seqs'],
  ['gpuMemoryUtilization', '--gpu-memory-utilization'],
]);

/**
 * The flags of a vLLM server in the values of any chart: settings with the names of the flags, in any spelling, next to its image or in a block
 * for the model or the server. Empty for other servers.
 * @param written the words that the values pass on; a flag among them is not set twice
 */
export function ownFlagsOf(
  block: Cursor,
  image: string | undefined,
  written: readonly Located<string>[],
): readonly Located<string>[] {
  if (image === undefined || !/(?:^|[/:-])vllm(?:[-:@/]|$)/.test(image)) return [];
  return flagsIn(block, written);
}

/** The same for a block of which something else tells that its server is vLLM. */
export function flagsIn(block: Cursor, written: readonly Located<string>[] = []): readonly Located<string>[] {
  const holders = [block, ...entries(block).filter((part) => part.node.kind === 'map' && holdsSettings(keyOf(part)))];
  const isWritten = (flag: string) => written.some(({ value }) => value === flag || value.startsWith(`${flag}=`));
  // The parallel sizes of a group of pods are not those of one.
  const isGroup = holders.some((holder) => entries(holder).some(isGroupSetting));
  const found = new Map<string, readonly Located<string>[]>();
  for (const holder of holders) {
    for (const entry of entries(holder)) {
      const words = wordsOf(keyOf(entry)).join('-').toLowerCase();
      const isModel = holder === block ? words === 'model' : /model/i.test(keyOf(holder)) && modelName.test(words);
      const flag = isModel ? '--model' : flagNamed(words);
      const value = entry.node.kind === 'scalar' && !isNull(entry) ? text(entry) : undefined;
      if (flag === undefined || value === undefined || /^(?:|0|none)$/i.test(value.value)) continue;
      if ((flag === '--model' && !value.value.includes('/')) || (isGroup && flag.includes('-parallel-'))) continue;
      if (!isWritten(flag) && !found.has(flag)) found.set(flag, [{ value: flag, at: entry }, value]);
    }
  }
  return [...found.values()].flat();
}

/** The name of a model on the Hub: `name`, `hfId`, `huggingfaceName`, `repo_id`. */
const modelName = /^(?:(?:hf|hugging-?face|model|hub|repo)-)*(?:name|id|repo)$/;

function isGroupSetting(entry: Cursor): boolean {
  if (!/^(?:ray|lws|leader-?worker|multi-?node|n?nodes$|num-?nodes|workers?|group)/i.test(keyOf(entry))) return false;
  if (entry.node.kind === 'map') return asBoolean(getIn(entry, 'enabled')) !== false;
  return !/^(?:|0|1|false|null)$/i.test(asText(entry) ?? '1');
}

/** Whether a block is for the model or the server: `vllmConfig`, `engineArgs`, `model`. */
function holdsSettings(key: string): boolean {
  const words = wordsOf(key.replace('vLLM', 'vllm'));
  return words.length > 0 && words.length <= 2 && words.every((word) => settingsWords.has(word));
}

const settingsWords = wordSet(
  'model llm vllm server serving inference engine backend settings config configuration args deployment container',
);

/** The flag that a setting stands for, by its meaning: `max-model-len`, `tp`, `max-seq-len`. */
function flagNamed(words: string): string | undefined {
  if (words === 'dtype' || words === 'quantization') return `--${words}`;
  const name = words.replace('parallelism', 'parallel');
  const found = flagsByMeaning.find(([means]) => meaningOf({ name, written: name }, means, 'vllm') !== undefined);
  return found?.[1];
}

const flagsByMeaning: readonly (readonly [FlagMeaning, string])[] = [
  ['tensor-parallel', '--tensor-parallel-size'],
  ['pipeline-parallel', '--pipeline-parallel-size'],
  ['data-parallel', '--data-parallel-size'],
  ['context-length', '--max-model-len'],
  ['sequences', '--max-num-seqs'],
  ['memory-fraction', '--gpu-memory-utilization'],
  ['cache-type', '--kv-cache-dtype'],
];
