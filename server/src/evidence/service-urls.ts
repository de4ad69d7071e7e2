import type { Container } from '../model/workload.ts';
import { type Cursor, isTemplated } from '../yaml/cursor.ts';

/** An address of a container whose host may be a Service of the cluster. */
export interface ServiceUrl {
  readonly at: Cursor;
  readonly variable: string;
  readonly service: string;
  /** undefined: that of the pod. */
  readonly namespace: string | undefined;
  readonly port: string;
}

/** The addresses with a scheme and a port in the variables of a container. */
export function serviceUrls({ env }: Container): readonly ServiceUrl[] {
  return env.flatMap(({ name, value }) => {
    const found = value === undefined || isTemplated(value.at) || isIdentity.test(name) ? null : url.exec(value.value);
    if (value === undefined || found === null) return [];
    const [, host = '', port = ''] = found;
    const [service = '', namespace, ...rest] = host.split('.');
    // Without a port, some clients use the default of their own server.
    const isHere = rest.length === 0 || rest.join('.') === 'svc' || rest.join('.') === 'svc.cluster.local';
    return isHere ? [{ at: value.at, variable: name, service, namespace, port }] : [];
  });
}

/** Addresses that are compared, and not called: `CORS_ALLOWED_ORIGINS`. */
const isIdentity = /cors|origin|issuer|audience/i;

const url = /^[a-z]{2,10}:\/\/([a-z][a-z\d-]*(?:\.[a-z\d-]+){0,4}):(\d{1,5})(?:\/\S*)?$/;
