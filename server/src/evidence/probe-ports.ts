import { asText, type Cursor, getIn, isIncomplete, isTemplated, items } from '../yaml/cursor.ts';
import { isUnknown, writtenText } from './written.ts';

/** A port that a probe names and its container does not declare. */
export interface UndeclaredPort {
  readonly place: Cursor;
  readonly port: string;
  /** The names that it does declare. */
  readonly known: readonly string[];
}

export function undeclaredPorts(probe: Cursor | undefined, container: Cursor): readonly UndeclaredPort[] {
  const ports = getIn(container, 'ports');
  const names = items(ports).map((port) => getIn(port, 'name'));
  // In values, the ports may be keys.
  if (
    ports?.node.kind === 'map' ||
    isIncomplete(container) ||
    isIncomplete(ports) ||
    isTemplated(ports) ||
    names.some(isUnknown)
  )
    return [];
  const known = names.flatMap((name) => asText(name) ?? []);
  return ['httpGet', 'tcpSocket'].flatMap((handler) => {
    const place = getIn(probe, handler, 'port');
    const port = writtenText(place);
    // A number in quotes is a number, and name-invalid reports what is not a name.
    if (place === undefined || port === undefined || !/^(?=.{1,15}$)(?=.*[a-z])[a-z0-9-]+$/.test(port)) return [];
    return known.includes(port) ? [] : [{ place, port, known }];
  });
}
