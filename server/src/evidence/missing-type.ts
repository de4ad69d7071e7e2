import { servedVersions } from '../catalog/index.ts';
import { asString, asText, type Cursor, getIn, isIncomplete, items, rootCursor } from '../yaml/cursor.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { concernsAccelerators } from './api-problems.ts';
import { isMissing } from './empty-fields.ts';

/** The kind of a workload without `apiVersion`, or the version of one without `kind`: what is wrong. Undefined if the document may be no object. */
export function missingType({ root: node, template, problems }: YamlDocument) {
  if (node === null || template || problems.length > 0) return undefined;
  const root = rootCursor(node);
  const [kind, version] = ['kind', 'apiVersion'].map((field) => {
    const at = getIn(root, field);
    return isMissing(at) ? undefined : at;
  });
  if ((kind === undefined) === (version === undefined) || !isWholeWorkload(root)) return undefined;
  const [use, ...others] = servedVersions(asString(kind) ?? '');
  if (kind !== undefined && use !== undefined && others.length === 0)
    return { message: `The ${asText(kind)} has no apiVersion (${use}): kubectl rejects the object`, at: kind };
  if (version === undefined || !/^(?:v1|apps\/v1|batch\/v1)$/.test(asText(version) ?? '')) return undefined;
  return { message: `The ${asText(version)} object has no kind: kubectl rejects it`, at: version };
}

/** Whether a named object has containers that use accelerators, with their images. */
function isWholeWorkload(root: Cursor): boolean {
  const spec = getIn(root, 'spec');
  const pod = getIn(spec, 'template', 'spec') ?? spec;
  if (getIn(root, 'metadata', 'name') === undefined || isIncomplete(root)) return false;
  return (
    items(getIn(pod, 'containers')).some((one) => getIn(one, 'image') !== undefined) &&
    concernsAccelerators(root.node, 'Pod')
  );
}
