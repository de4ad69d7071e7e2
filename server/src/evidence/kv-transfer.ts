import { imageParts } from '../catalog/images.ts';
import { meaningOf } from '../command/flag-meaning.ts';
import { type Flag, readFlags } from '../command/flags.ts';
import { wordsOf } from '../command/name-words.ts';
import { recognizeProgram } from '../command/programs.ts';
import type { Word } from '../command/shell.ts';
import { commandLineOf, commandsIn } from '../model/process-input.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { getIn, isIncomplete, isTemplated, isUnseen } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';

/** The servers of one model of which some only read prompts (prefill) and others only write answers (decode). */
export interface KvMismatch {
  readonly container: Container;
  readonly words: readonly [Word, Word];
  readonly message: string;
}

type Phase = 'prefill' | 'decode';

/** A server of one phase, and how it hands over the KV cache. */
interface Side {
  readonly name: string;
  readonly container: Container;
  readonly program: string;
  readonly first: Word;
  /** The flag that lets it take part in the transfer. */
  readonly flag: Flag | undefined;
  readonly connector: string | undefined;
  /** vLLM: `kv_producer`; SGLang: `prefill`. */
  readonly role: string | undefined;
}

/** What two roles of an object, named after the phases, need to pass on the KV cache and do not have; undefined if they have it or it is unknown. */
export function kvMismatch(workload: Workload): KvMismatch | undefined {
  if (workload.partial || workload.podSets.length < 2) return undefined;
  const [prefill, decode] = (['prefill', 'decode'] as const).map((phase) => sideOf(workload, phase));
  if (prefill === undefined || decode === undefined || prefill.program !== decode.program) return undefined;
  const pairs: readonly (readonly [Side, Side, Phase])[] = [
    [prefill, decode, 'prefill'],
    [decode, prefill, 'decode'],
  ];
  const flagName = prefill.program === 'vllm' ? '--kv-transfer-config' : '--disaggregation-mode';
  const result =
    prefill.program === 'dynamo'
      ? 'from Dynamo 1.4 on, the model is never ready'
      : 'no KV cache is transferred, and decoding repeats the prefill or fails';
  for (const [one, other] of pairs) {
    if (one.flag !== undefined || other.flag === undefined) continue;
    const message = `${one.name} lacks ${flagName}, which ${other.name} has: ${result}`;
    return { ...at(one), message };
  }
  for (const [one, , phase] of pairs) {
    // NixlConnector ignores the role: https://docs.vllm.ai/en/latest/features/nixl_connector_usage.html
    const wrong = one.connector !== 'NixlConnector' && wrongRoles[phase].has(one.role ?? '');
    if (wrong && one.flag)
      return {
        ...at(one, one.flag),
        message: `${one.name} is set to ${one.role}, the role of the other side: no KV cache is transferred`,
      };
  }
  const [from, to] = [prefill.connector, decode.connector];
  if (from === to || from === undefined || to === undefined || decode.flag === undefined) return undefined;
  if (!direct.has(from) || !direct.has(to)) return undefined;
  return {
    ...at(decode, decode.flag),
    message: `${decode.name} receives the KV cache with ${to}, but ${prefill.name} sends it with ${from}: they cannot connect`,
  };
}

const wrongRoles = {
  prefill: new Set(['kv_consumer', 'decode']),
  decode: new Set(['kv_producer', 'prefill']),
} as const satisfies Record<Phase, ReadonlySet<string>>;

/**
 * Whether a worker of Dynamo registers as one of both phases without its mode, so that no worker is of the other phase. Older releases, which images
 * with tags of one's own may have, took it for one that decodes.
 * https://github.com/ai-dynamo/dynamo/pull/13037, 2026-11-30
 */
function needsMode({ image }: Container): boolean {
  const { repository, tag = '' } = imageParts(image === undefined || isTemplated(image.at) ? '' : image.value);
  const [, major, minor] = /^v?(\d{1,2})\.(\d{1,2})\.\d/.exec(/dynamo/.test(repository) ? tag : '') ?? [];
  return major !== undefined && Number(major) * 100 + Number(minor) >= 104;
}

/** Connectors that only talk to their own kind. https://docs.vllm.ai/en/latest/features/disagg_prefill.html, https://docs.sglang.ai/advanced_features/pd_disaggregation.html */
const direct: ReadonlySet<string> = new Set(
  'NixlConnector MooncakeConnector P2pNcclConnector nixl mooncake ascend'.split(' '),
);

function at({ container, first }: Side, flag?: Flag): Pick<KvMismatch, 'container' | 'words'> {
  return { container, words: flag === undefined ? [first, first] : [flag.word, flag.valueWord ?? flag.word] };
}

/** The only server of the only role of a phase; undefined if its settings may be elsewhere. */
function sideOf({ podSets }: Workload, phase: Phase): Side | undefined {
  const [only, ...others] = podSets.filter(({ name }) => wordsOf(name).some((word) => word.startsWith(phase)));
  if (only === undefined || others.length > 0 || isUnseen(getIn(only.pod, 'containers'))) return undefined;
  const sides = only.containers.flatMap((container) => serverIn(container, only) ?? []);
  return sides.length === 1 ? sides[0] : undefined;
}

function serverIn(container: Container, { name, pod }: PodSet): Side | undefined {
  const lines = [...container.command, ...container.args];
  if (container.type !== 'app' || container.command.length === 0 || isIncomplete(pod) || isIncomplete(container.at))
    return undefined;
  if (lines.some((line) => isTemplated(line.at) || isIncomplete(line.at.parent)) || !commandLineOf(container).complete)
    return undefined;
  const servers = commandsIn(container).flatMap((command) => {
    const { program } = recognizeProgram([command]) ?? {};
    const isKnown = program === 'vllm' || program === 'sglang' || program === 'dynamo';
    return isKnown ? [{ program, words: command.words }] : [];
  });
  const [server, ...others] = servers;
  const first = server?.words[0];
  if (server === undefined || first === undefined || others.length > 0) return undefined;
  const side = { name: shorten(name, 20), container, program: server.program, first };
  const flags = readFlags(server.words);
  // A file or a variable may have the rest.
  const isOpen = (flag: Flag) => meaningOf(flag, 'settings-file') !== undefined;
  if (flags.some(isOpen) || server.words.some(({ text }) => /^["']?\$[\w({@*]/.test(text))) return undefined;
  const find = (...names: readonly string[]) => flags.find((flag) => names.includes(flag.name));
  if (server.program === 'dynamo') {
    // Older flags, next to which a worker without one decodes.
    if (container.env.some((one) => /DISAGG/.test(one.name))) return undefined;
    if (find('is-prefill-worker', 'is-decode-worker') !== undefined) return undefined;
    const mode = find('disaggregation-mode');
    if (mode === undefined && !needsMode(container)) return undefined;
    return { ...side, flag: mode, connector: undefined, role: mode?.value };
  }
  if (server.program === 'sglang') {
    const flag = find('disaggregation-mode', 'pd-disaggregation-mode');
    const connector = find('disaggregation-transfer-backend')?.value;
    return { ...side, flag: flag?.value === 'null' ? undefined : flag, connector, role: flag?.value };
  }
  const flag = find('kv-transfer-config') ?? flags.find((one) => one.name.startsWith('kv-transfer-config.'));
  const json = flag?.value ?? '';
  const part = (key: string) =>
    new RegExp(`"${key}"\\s*:\\s*"(\\w+)"`).exec(json)?.[1] ??
    find(`kv-transfer-config.${key.replaceAll('_', '-')}`)?.value;
  return { ...side, flag, connector: part('kv_connector'), role: part('kv_role') };
}
