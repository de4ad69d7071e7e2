import { either } from '../catalog/word-patterns.ts';
import type { Container } from '../model/workload.ts';
import { getIn, isIncomplete, isTemplated } from '../yaml/cursor.ts';
import { mayHaveVariables } from './launch.ts';

/**
 * Whether something gives a container a token of Hugging Face, or may give it one.
 * @param unread a variable that no program reads
 */
export function mayHaveToken(container: Container, unread?: string): boolean {
  const { at, env, command, args, scripts, settingsFiles = [], configEnv = [] } = container;
  if (mayHaveVariables(container) || isIncomplete(at) || isIncomplete(getIn(at, 'env'))) return true;
  if (scripts.length > 0 || settingsFiles.length > 0) return true;
  if (env.some((one) => isTemplated(getIn(one.at, 'name')))) return true;
  if ([...withValue(env), ...configEnv].some(({ name }) => name === '' || (name !== unread && bringsToken.test(name))))
    return true;
  if (env.some(({ name, value }) => value === undefined && /HOME|CACHE/.test(name))) return true;
  return [...command, ...args].some(({ at: word, value }) => isTemplated(word) || logsIn.test(value));
}

/** The variables of a container that are written with a value; without one, they are as good as missing. */
function withValue(env: Container['env']): Container['env'] {
  return env.filter(({ value }) => value?.value !== '' || isTemplated(value.at));
}

/** A token that the libraries of Hugging Face read, but that is written without a value. */
export function emptyToken({ env }: Container): Container['env'][number] | undefined {
  const set = new Set(withValue(env));
  return env.find((one) => /^(?:HF_TOKEN|HUGGING_FACE_HUB_TOKEN)$/.test(one.name) && !set.has(one));
}

/** What a container without a token lacks, as a clause. */
export function lackOf(empty: Container['env'][number] | undefined): string {
  return empty === undefined ? 'the container has no HF_TOKEN' : `${empty.name} is empty`;
}

/** A token, another hub, or none at all. */
export const bringsToken = /token|hf_(?:endpoint|hub|api|auth)|hugging|offline|modelscope|proxy/i;
/** Words that bring a token or log in. */
export const logsIn = either(
  /(?:hf|hub|auth)[-_]token|--token\b/i,
  /\blogin\b|\bhf\s+(?:auth|download)/,
  /(?:^|[;&|\n])[ \t]*(?:source|\.)[ \t]/,
  /hugging_?face|modelscope/,
);
