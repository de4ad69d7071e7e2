import type { CrossReferences } from '../model/cross-references.ts';
import { commandsIn } from '../model/process-input.ts';
import type { Container, Workload } from '../model/workload.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { isTemplated, spanOf } from '../yaml/cursor.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { shorten } from '../yaml/shorten.ts';
import type { Span } from '../yaml/span.ts';
import { setsRanks } from './pod-ranks.ts';
import { isHere } from './shared-master.ts';
import { launchOf } from './unmet-nodes.ts';

/** A port at which ranks meet, but which the Service of their address does not have. */
export interface AbsentPort {
  readonly message: string;
  readonly span: Span;
}

/**
 * Such a port of a Service with its own address in the same file. A headless Service is only a name: its ports do not matter.
 * @param references the Services that the file has
 */
export function absentMeetingPort(
  container: Container,
  workload: Workload,
  document: YamlDocument,
  references: CrossReferences,
): AbsentPort | undefined {
  for (const { host, port, span } of meetings(container, workload, document)) {
    const [name = '', ...domain] = host.split('.');
    if (!isHere(domain, workload.namespace)) continue;
    const service = references.service(workload.namespace, name);
    const known = service?.file === null && service.facts.hasAddress && service.facts.selects !== null;
    const ports = known ? service.facts.ports : null;
    if (ports === null || ports.length === 0 || ports.some((one) => one.port === port)) continue;
    const own = ports.map((one) => one.port).join(', ');
    return {
      message: `Service ${shorten(name, 40)} has no port ${port}, only ${shorten(own, 40)}: the ranks never reach the first one`,
      span,
    };
  }
  return undefined;
}

interface Meeting {
  readonly host: string;
  readonly port: string;
  readonly span: Span;
}

function meetings(container: Container, workload: Workload, document: YamlDocument): readonly Meeting[] {
  const inFlags = commandsIn(container).flatMap((command) => {
    const { flags } = launchOf(command);
    const master = flags.find(({ name }) => /^(?:master-addr|main-process-ip)$/.test(name))?.value;
    return flags.flatMap(({ name, value = '', word, valueWord }): readonly Meeting[] => {
      const isPort = /^(?:master|main-process)-port$/.test(name);
      const whole = name === 'rdzv-endpoint' ? value : isPort && master !== undefined ? `${master}:${value}` : '';
      const [, host, port] = meeting.exec(whole) ?? [];
      const span = spanOfWords(document, container, [word, valueWord ?? word]);
      return host === undefined || port === undefined || span === undefined ? [] : [{ host, port, span }];
    });
  });
  // Its operator sets these variables itself.
  if (setsRanks(workload)) return inFlags;
  const [host, port] = ['MASTER_ADDR', 'MASTER_PORT'].map(
    (wanted) => container.env.find(({ name }) => name === wanted)?.value,
  );
  if (host === undefined || port === undefined || [host, port].some(({ at }) => isTemplated(at))) return inFlags;
  return meeting.test(`${host.value}:${port.value}`)
    ? [...inFlags, { host: host.value, port: port.value, span: spanOf(port.at) }]
    : inFlags;
}

const meeting = /^([a-z][a-z0-9.-]{0,200}):(\d{2,5})$/;
