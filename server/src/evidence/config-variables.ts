import { placeOfConfigVariable } from '../model/config-env.ts';
import type { ConfigVariable, Container, Workload } from '../model/workload.ts';
import { asText, getIn, isTemplated, items, type Located } from '../yaml/cursor.ts';

/** A variable of a container whose value is in a ConfigMap of the project. */
export interface FromConfigMap {
  readonly name: string;
  /** The value, at the place where the container names the ConfigMap or its key. */
  readonly value: Located<string>;
}

/** The first variable with such a name that a container takes from a ConfigMap; undefined if another source may have it, too. */
export function fromConfigMap(container: Container, is: (name: string) => boolean): FromConfigMap | undefined {
  const { at, env, configEnv = [], knowsEnvFrom = false } = container;
  const name = configEnv.find((one) => is(one.name))?.name;
  const [found, ...others] = configEnv.filter((one) => one.name === name);
  const isOpen = others.length > 0 || (!knowsEnvFrom && items(getIn(at, 'envFrom')).length > 1);
  // The container's own value takes precedence.
  if (found === undefined || isOpen || env.some((one) => one.name === name && one.value !== undefined))
    return undefined;
  const place = placeOfConfigVariable(container, found);
  if (place === undefined || isTemplated(place) || asText(place) === undefined) return undefined;
  return { name: found.name, value: { value: found.value, at: place } };
}

/** Whether a container is the first of its object with a variable of a ConfigMap: the others repeat its mistakes. */
export function isFirstWith({ name, configMap }: ConfigVariable, container: Container, { podSets }: Workload): boolean {
  const isSame = (one: ConfigVariable) => one.name === name && one.configMap === configMap;
  for (const { containers } of podSets) {
    const found = containers.find(({ configEnv = [] }) => configEnv.some(isSame));
    if (found !== undefined) return found === container;
  }
  return false;
}
