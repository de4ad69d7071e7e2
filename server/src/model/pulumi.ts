import { asText, type Cursor, entries, getIn } from '../yaml/cursor.ts';

/** Whether the document is a project in Pulumi's YAML with pools of nodes. https://www.pulumi.com/docs/iac/languages-sdks/yaml/ */
export function isPulumiProject(root: Cursor): boolean {
  const runtime = asText(getIn(root, 'runtime')) ?? asText(getIn(root, 'runtime', 'name'));
  return (
    runtime === 'yaml' &&
    entries(getIn(root, 'resources')).some((one) => isPulumiPool(asText(getIn(one, 'type')) ?? ''))
  );
}

/** Whether a type of resource is a pool: `aws:eks:NodeGroup`, `gcp:container/nodePool:NodePool`. */
export function isPulumiPool(type: string): boolean {
  return /(?:Node|Agent)(?:Group|Pool)$/.test(type);
}
