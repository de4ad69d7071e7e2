import { asText, type Cursor, entries, getIn, isTemplated, items, keyOf } from '../yaml/cursor.ts';
import { type Table, tableOf } from '../yaml/table.ts';
import type { CrossReferences } from './cross-references.ts';
import type { ConfigVariable, Container } from './workload.ts';

/** The container with the variables that it takes from ConfigMaps: whole ones (`envFrom`) and single keys. Without positions in this document. */
export function withConfigEnv(
  container: Container,
  namespace: string | null,
  crossReferences: CrossReferences,
): Container {
  const dataOf = (name: string) => crossReferences.configMap(namespace, name)?.facts;
  const sources = items(getIn(container.at, 'envFrom'));
  const read = sources.map((source): readonly ConfigVariable[] | undefined => {
    const reference = getIn(source, 'configMapRef', 'name');
    const configMap = asText(reference);
    if (reference === undefined || configMap == null || isTemplated(reference)) return undefined;
    const prefix = asText(getIn(source, 'prefix')) ?? '';
    const data = dataOf(configMap);
    return data && Object.entries(data).map(([name, value]) => ({ name: prefix + name, value, configMap }));
  });
  const whole = read.flatMap((variables) => variables ?? []);
  const single = container.env.flatMap(({ name, at }): readonly ConfigVariable[] => {
    const reference = entries(getIn(at, 'valueFrom')).find((entry) => keyOf(entry) === 'configMapKeyRef');
    if (reference === undefined || isTemplated(reference)) return [];
    const key = asText(getIn(reference, 'key'));
    const configMap = asText(getIn(reference, 'name')) ?? '';
    const value = dataOf(configMap)?.[key ?? ''];
    return value === undefined ? [] : [{ name, value, configMap }];
  });
  const found = [...whole, ...single];
  if (found.length === 0) return container;
  const isWhole = sources.length > 0 && !read.includes(undefined);
  return { ...container, configEnv: found, ...(isWhole ? { knowsEnvFrom: true } : {}) };
}

/** Maximum length of a file in a ConfigMap. Scripts are smaller; larger files are data. */
const maxFileLength = 32_000;

/** The files in a ConfigMap. */
export function smallFiles(configMap: Cursor): Table<string> {
  const files = entries(getIn(configMap, 'data')).flatMap((file): [string, string][] => {
    const text = asText(file);
    return text === undefined || isTemplated(file) || text.length > maxFileLength ? [] : [[keyOf(file), text]];
  });
  return tableOf(files);
}

/** Where a container takes a variable from a ConfigMap: the name of the ConfigMap in `envFrom`, or the key in `valueFrom`. */
export function placeOfConfigVariable({ at, env }: Container, { name, configMap }: ConfigVariable): Cursor | undefined {
  const own = env.find((one) => one.name === name);
  if (own !== undefined) return getIn(own.at, 'valueFrom', 'configMapKeyRef', 'key');
  return items(getIn(at, 'envFrom'))
    .map((source) => getIn(source, 'configMapRef', 'name'))
    .find((reference) => asText(reference) === configMap);
}
