import type { CrossReferences } from '../model/cross-references.ts';
import { kindOf } from '../model/kinds/index.ts';
import { commandsIn } from '../model/process-input.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { asText, getIn, isTemplated, spanOf } from '../yaml/cursor.ts';
import type { YamlDocument } from '../yaml/node.ts';
import type { Span } from '../yaml/span.ts';
import { ownLabels } from './pod-records.ts';
import { launchOf } from './unmet-nodes.ts';

/** The address at which the pods of a job meet, if it is a Service that selects all of them. */
export interface SharedMaster {
  readonly text: string;
  readonly service: string;
  readonly span: Span;
}

/**
 * The Service that a Job or a StatefulSet takes for its first pod, although it selects all of its pods. PyTorch tries each address of a headless
 * Service until the first rank answers, but takes the endpoint of a c10d rendezvous for its own if one of the addresses is.
 * https://github.com/pytorch/pytorch/blob/main/torch/distributed/elastic/rendezvous/utils.py
 */
export function sharedMaster(
  container: Container,
  podSet: PodSet,
  workload: Workload,
  document: YamlDocument,
  references: CrossReferences,
): SharedMaster | undefined {
  const labels = ownLabels(podSet, workload);
  const lines = [...container.command, ...container.args];
  if (labels === undefined || lines.some(({ value }) => value.includes('MASTER_ADDR='))) return undefined;
  for (const { value, text, span, isEndpoint } of addressesOf(container, document)) {
    const [host = '', ...domain] = value.replace(/:\d+$/, '').split('.');
    if (!isHere(domain, workload.namespace)) continue;
    const service = references.service(workload.namespace, host);
    if (service === undefined || service.siblingFolder || !(service.facts.hasAddress || isEndpoint)) continue;
    const selects = Object.entries(service.facts.selects ?? {});
    if (selects.length === 0 || selects.some(([key, wanted]) => labels[key] !== wanted)) continue;
    return { text, service: host, span };
  }
  return undefined;
}

/** Whether the rest of a name is the workload's own namespace. */
export function isHere([namespace, svc]: readonly string[], own: string | null): boolean {
  return namespace === undefined || ((own === null || namespace === own) && (svc === undefined || svc === 'svc'));
}

interface WrittenAddress {
  readonly value: string;
  readonly text: string;
  readonly span: Span;
  /** The endpoint of a c10d rendezvous. */
  readonly isEndpoint: boolean;
}

function addressesOf(container: Container, document: YamlDocument): readonly WrittenAddress[] {
  const inEnv = container.env.flatMap(({ name, value }) =>
    name !== 'MASTER_ADDR' || value === undefined || isTemplated(value.at)
      ? []
      : [{ value: value.value, text: `${name}=${value.value}`, span: spanOf(value.at), isEndpoint: false }],
  );
  const inFlags = commandsIn(container).flatMap((command) => {
    const { flags } = launchOf(command);
    const isC10d = flags.some(({ name, value }) => name === 'rdzv-backend' && value === 'c10d');
    return flags.flatMap(({ name, written, value = '', word, valueWord }) => {
      const isEndpoint = name === 'rdzv-endpoint';
      if (!/^(?:master-addr|main-process-ip)$/.test(name) && !(isEndpoint && isC10d)) return [];
      const span = spanOfWords(document, container, [word, valueWord ?? word]);
      return span === undefined ? [] : [{ value, text: `--${written} ${value}`, span, isEndpoint }];
    });
  });
  return [...inEnv, ...inFlags];
}

/** Whether the Service of an address selects pods of another object, in which the first rank may be. */
export function isElsewhere(address: string, workload: Workload, references: CrossReferences): boolean {
  const [host = ''] = address.split(/[.:]/);
  const service = references.service(workload.namespace, host);
  if (service === undefined) return false;
  const labels = getIn(kindOf(workload).job?.(workload.manifest.root), 'template', 'metadata', 'labels');
  const selects = Object.entries(service.facts.selects ?? {});
  return selects.length === 0 || selects.some(([key, value]) => asText(getIn(labels, key)) !== value);
}
