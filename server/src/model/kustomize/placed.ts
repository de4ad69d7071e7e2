import type { YamlMap, YamlNode } from '../../yaml/node.ts';
import { isJsonPatch } from './json-patch.ts';

/** A built object with the span of the document that it is shown for. Its kind gets the span of the first key. */
export function placed(object: YamlNode, written: YamlNode): YamlMap | undefined {
  if (object.kind !== 'map') return undefined;
  const first = isJsonPatch(written) ? written.items[0]?.value : written;
  const [firstEntry] = first?.kind === 'map' ? first.entries : [];
  const own = written.kind === 'map' ? written.entries.find(({ key }) => key === 'kind') : undefined;
  const keySpan = (own ?? firstEntry)?.keySpan ?? written.span;
  return {
    ...object,
    span: written.span,
    entries: object.entries.map((entry) => (entry.key === 'kind' ? { ...entry, keySpan } : entry)),
  };
}
