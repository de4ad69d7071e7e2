import { table } from '../yaml/table.ts';
import { baseName } from './shell.ts';

/** What a program does that runs until it is stopped and computes nothing on a GPU, by its command. */
interface PlainService {
  readonly task: string;
  /** Programs that it starts may use one. */
  readonly maybe: boolean;
}

const pages: PlainService = { task: 'serves web pages', maybe: true };
const data: PlainService = { task: 'stores data', maybe: false };
const metrics: PlainService = { task: 'collects metrics', maybe: false };

const services = table<PlainService>({
  nginx: pages,
  httpd: pages,
  'apache2-foreground': pages,
  caddy: pages,
  haproxy: pages,
  'redis-server': data,
  'valkey-server': data,
  memcached: data,
  // Extensions may compute: PG-Strom, PostgresML.
  postgres: { ...data, maybe: true },
  mysqld: data,
  mariadbd: data,
  mongod: data,
  'rabbitmq-server': data,
  prometheus: metrics,
  alertmanager: metrics,
  'grafana-server': metrics,
});

/** The service of a command in the foreground: `redis-server`, `next start`, `airflow webserver`. */
export function plainService(words: readonly string[]): PlainService | undefined {
  const [name = '', ...rest] = words[0] === 'npx' ? words.slice(1) : words;
  const program = baseName(name);
  const [option = ''] = rest;
  if (program === 'next' || program === 'vite') return /^(?:start|dev|preview)?$/.test(option) ? pages : undefined;
  // https://airflow.apache.org/docs/apache-airflow/stable/cli-and-env-variables-ref.html
  if (program === 'airflow')
    return /^(?:webserver|api-server)$/.test(option) ? { task: 'shows workflows', maybe: false } : undefined;
  // https://labelstud.io/guide/start
  if (program === 'label-studio')
    return option === 'start' || option === '' ? { task: 'shows data to people', maybe: false } : undefined;
  // RedisAI is one.
  const isExtended = rest.some((word) => /loadmodule/.test(word));
  const service = services[program];
  return isExtended && service !== undefined ? { ...service, maybe: true } : service;
}
