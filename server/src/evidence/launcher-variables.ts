import { imageParts } from '../catalog/images.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { readFlags } from '../command/flags.ts';
import type { Container } from '../model/workload.ts';
import { type Cursor, getIn, isTemplated, isUnseen } from '../yaml/cursor.ts';
import { exclusionsOf, ordersOf } from './server-flag-relations.ts';
import { meantFlag, valueNeeded } from './server-flags.ts';
import { soleServer } from './sole-server.ts';

/** A variable of a container that its server rejects. */
export interface WrongVariable {
  /** `DTYPE must be float16 or bfloat16, not fp16`. */
  readonly problem: string;
  /** Where its value is. */
  readonly at: Cursor;
  readonly words?: undefined;
}

/** A variable with the name that another server has for the same, and the one that this one reads. */
export interface OtherVariable {
  readonly name: string;
  readonly meant: string;
  readonly at: Cursor;
}

/** The variables of a container with Text Generation Inference's own start that it does not read. */
export function otherVariables(container: Container): readonly OtherVariable[] {
  const { env, command, args, image } = container;
  const { repository, tag = '' } = imageParts(image?.value ?? '');
  // The start for SageMaker has variables of its own.
  const isOwn = /(?:^|\/)huggingface\/text-generation-inference$/.test(repository) && !tag.includes('sagemaker');
  if (!isOwn || command.length > 0 || [getIn(container.at, 'args'), getIn(container.at, 'command')].some(isUnseen))
    return [];
  const words = args.map(({ value }) => value);
  const isSet = (flag: string) =>
    env.some(({ name }) => flagOf(name) === flag) || words.some((word) => word.startsWith(`--${flag}`));
  return env.flatMap(({ name, value, at }) => {
    // By default, it listens on the address of the pod.
    const meant = name === 'HOST' ? undefined : meantFlag('text-generation-launcher', flagOf(name));
    const isWritten = value !== undefined && value.value !== '' && !isTemplated(value.at);
    if (meant === undefined || !isWritten || isSet(meant) || words.some((word) => word.includes(name))) return [];
    return [{ name, meant: meant.toUpperCase().replaceAll('-', '_'), at }];
  });
}

/** The flag that a variable sets; empty if it cannot set one. */
export function flagOf(name: string): string {
  return /^[A-Z][A-Z_]{2,40}$/.test(name) ? name.toLowerCase().replaceAll('_', '-') : '';
}

/** What Text Generation Inference reads from variables: each of its flags, unless the flag itself is written. */
export function wrongVariables(container: Container): readonly WrongVariable[] {
  const server = soleServer(container);
  if (server?.program !== 'text-generation-launcher') return [];
  const flags = new Set(readFlags(server.command?.words ?? []).map(({ name }) => name));
  const variables = container.env.flatMap(({ name, value }) => {
    const flag = flagOf(name);
    return value === undefined || flags.has(flag) || isTemplated(value.at) ? [] : [{ name, flag, ...value }];
  });
  const values = variables.flatMap(({ name, flag, value, at }) => {
    if (value === '') return typed.has(flag) ? [{ problem: `${name} must not be empty`, at }] : [];
    const mustBe = valueNeeded(server.program, flag, value);
    return mustBe === undefined ? [] : [{ problem: `${name} must be ${mustBe}, not ${value}`, at }];
  });
  const doubles = exclusionsOf(server.program).flatMap(([one, other]) => {
    const [first, second] = [one, other].map((flag) => variables.find((variable) => variable.flag === flag));
    return first && second ? [{ problem: `${first.name} and ${second.name} are both set`, at: first.at }] : [];
  });
  const orders = ordersOf(server.program, container).flatMap(([lower, upper, relation]) => {
    const [low, high] = [lower, upper].map((flag) => variables.find((one) => one.flag === flag));
    const [least, most] = [low, high].map((one) => (/^\d{1,12}$/.test(one?.value ?? '') ? Number(one?.value) : NaN));
    if (low === undefined || high === undefined || least === undefined || most === undefined) return [];
    const isWrong = relation === '<' ? least >= most : least > most;
    const must = relation === '<' ? 'must be below' : 'must not be above';
    return isWrong ? [{ problem: `${low.name} ${least} ${must} ${high.name} ${most}`, at: low.at }] : [];
  });
  return [...values, ...(doubles.length > 0 ? doubles : orders)];
}

/** Flags whose values are numbers or names of a list: an empty variable is not one, other than no variable. */
const typed = wordSet(
  'quantize dtype num-shard sharded max-input-tokens max-input-length max-total-tokens max-batch-prefill-tokens',
  'max-batch-total-tokens max-concurrent-requests max-best-of max-stop-sequences max-waiting-tokens cuda-memory-fraction',
);
