import type { Container } from '../model/workload.ts';
import { asText, getIn, isTemplated, items, type Located } from '../yaml/cursor.ts';

/** A variable of a container whose value is in a ConfigMap of the project. */
export interface FromConfigMap {
  readonly name: string;
  /** The value, at the place where the container names the ConfigMap or its key. */
  readonly value: Located<string>;
}

/** The first variable with such a name that a container takes from a ConfigMap; undefined if several ConfigMaps may have it. */
export function fromConfigMap(
  { at, env, configEnv = [] }: Container,
  is: (name: string) => boolean,
): FromConfigMap | undefined {
  const found = configEnv.find(({ name }) => is(name));
  if (found?.value === undefined) return undefined;
  const { name } = found;
  const own = env.find((one) => one.name === name);
  // The container's own value takes precedence.
  if (own?.value !== undefined) return undefined;
  const references = items(getIn(at, 'envFrom')).map((source) => getIn(source, 'configMapRef', 'name'));
  const place =
    own === undefined
      ? references.length === 1
        ? references[0]
        : undefined
      : getIn(own.at, 'valueFrom', 'configMapKeyRef', 'key');
  if (place === undefined || isTemplated(place) || asText(place) === undefined) return undefined;
  return { name, value: { value: found.value, at: place } };
}
