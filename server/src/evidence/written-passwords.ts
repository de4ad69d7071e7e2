import { oneOf, partOf } from '../catalog/word-patterns.ts';
import { isHub } from '../model/charts/notebooks.ts';
import type { Container } from '../model/workload.ts';
import {
  asText,
  type Cursor,
  entries,
  getIn,
  isTemplated,
  items,
  keyOf,
  type Located,
  rootCursor,
  spanOf,
} from '../yaml/cursor.ts';
import { parseDocument } from '../yaml/parse.ts';
import { isPlaceholder } from '../yaml/placeholder.ts';
import { notebookLogins } from './notebook-login.ts';

/** A password as a part of a text. */
export interface WrittenPassword {
  readonly text: Located<string>;
  readonly start: number;
  readonly end: number;
  /** The variable or the key that holds it; empty for an argument. */
  readonly name: string;
  /** Whether it is the password of an address. */
  readonly inUrl: boolean;
}

/** The passwords that a container gets in variables and addresses in plain text, without those of notebooks. */
export function writtenPasswords(container: Container): readonly WrittenPassword[] {
  const { env, command, args } = container;
  const found: WrittenPassword[] = [];
  const logins = new Set(notebookLogins(container).map(({ text }) => text.at.node));
  for (const { name, value: text } of env) {
    if (text === undefined || isTemplated(text.at) || logins.has(text.at.node)) continue;
    const { value } = text;
    if (isPasswordName(name) && isPassword(value))
      found.push({ text, start: 0, end: value.length, name, inUrl: false });
    else found.push(...inAddresses(text, name));
  }
  for (const text of [...command, ...args]) if (!isTemplated(text.at)) found.push(...inAddresses(text, ''));
  return found;
}

/** The passwords in the values of a JupyterHub: those of its proxy, its cookies and its authenticators. */
export function hubPasswords(values: Cursor): readonly WrittenPassword[] {
  if (!isHub(values)) return [];
  const authenticators = [...entries(getIn(values, 'hub', 'config')), getIn(values, 'auth', 'dummy')];
  const known = [getIn(values, 'proxy', 'secretToken'), getIn(values, 'hub', 'cookieSecret')];
  return [...known, ...authenticators.flatMap((one) => entries(one).filter((at) => hubKey.test(keyOf(at))))].flatMap(
    (at) => {
      const value = asText(at);
      if (at === undefined || value === undefined || isTemplated(at) || !isPassword(value)) return [];
      return [{ text: { value, at }, start: 0, end: value.length, name: keyOf(at), inUrl: false }];
    },
  );
}

const hubKey = /(?:^|_)(?:password|client_secret)$/;

/** A variable in the text of a runtime environment. */
export interface TextVariable {
  readonly name: string;
  readonly value: string;
  /** The field with the whole text, in which the value starts. */
  readonly text: Located<string>;
  readonly start: number;
}

/**
 * The variables that a field of KubeRay's kinds gives a job or its applications: `runtimeEnvYAML`, `serveConfigV2`.
 * https://docs.ray.io/en/latest/ray-core/handling-dependencies.html#runtime-environments-api-ref
 */
export function runtimeVariables(at: Cursor, value: string): readonly TextVariable[] {
  if (!value.includes('env_vars') || value.length > LONGEST || isTemplated(at)) return [];
  const { root, template } = parseDocument(value, 0);
  if (root === null || template) return [];
  return runtimesIn(rootCursor(root)).flatMap((runtime) =>
    entries(getIn(runtime, 'env_vars')).flatMap((one): TextVariable[] => {
      const text = asText(one);
      const start = text === undefined ? -1 : value.indexOf(text, spanOf(one).start);
      // The text of a quoted value may have escapes.
      if (text === undefined || isTemplated(one) || start < 0 || start > spanOf(one).start + 1) return [];
      return [{ name: keyOf(one), value: text, text: { value, at }, start }];
    }),
  );
}

function runtimesIn(root: Cursor): readonly (Cursor | undefined)[] {
  const applications = items(getIn(root, 'applications'));
  const deployments = applications.flatMap((one) => items(getIn(one, 'deployments')));
  return [
    root,
    ...applications.map((one) => getIn(one, 'runtime_env')),
    ...deployments.map((one) => getIn(one, 'ray_actor_options', 'runtime_env')),
  ];
}

/** The password that such a variable is. */
export function passwordIn({ name, value, text, start }: TextVariable): WrittenPassword | undefined {
  if (!isPasswordName(name) || !isPassword(value)) return undefined;
  return { text, start, end: start + value.length, name, inUrl: false };
}

/** A longer script is not read. */
const LONGEST = 20_000;

const address = /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@'"]{0,60}:([^\s/@'"]{1,100})@/gi;

function inAddresses(text: Located<string>, name: string): readonly WrittenPassword[] {
  if (text.value.length > LONGEST || !text.value.includes('://')) return [];
  return [...text.value.matchAll(address)].flatMap(({ 0: all, 1: password = '', index }) => {
    const end = index + all.length - 1;
    return isPassword(password) ? [{ text, start: end - password.length, end, name, inUrl: true }] : [];
  });
}

/** Only names with an owner: `SECRET`, also after most words, may be the name of a Secret, and `PASSWORD` any word. Others have passes: `NUM_PASS`. */
const passwordName = new RegExp(
  oneOf(
    '_(?:PASSWORD|PASSWD|PASSPHRASE|PWD)$ (?:^|_)SECRET(?:_ACCESS)?_KEY$ (?:^|_)(?:JWT|CLIENT|SESSION|COOKIE|AUTH|APP)_SECRET$',
    `(?:^|_)(?:${oneOf(
      'DB DATABASE POSTGRES PG MYSQL MARIADB MONGO REDIS RABBITMQ AMQP KAFKA MQTT ELASTIC NEO4J MINIO S3 FTP SFTP LDAP',
      'SMTP MAIL EMAIL USER ADMIN ROOT AUTH LOGIN BASIC PROXY REGISTRY DOCKER GRAFANA RTSP CAMERA WEBUI GRADIO',
    )})_PASS$`,
  ),
  'i',
);

/** Words for a setting of passwords, not for a password. */
const settings = new RegExp(
  `(?:^|_)(?:${oneOf('ALLOW DISABLE ENABLE REQUIRE NO SKIP USE RANDOM EMPTY RESET MIN MAX HAS FORCE')})_`,
  'i',
);

/** Most names end otherwise, and need no longer patterns. */
const lastWord = /(?:word|wd|phrase|key|secret|pass)$/i;

function isPasswordName(name: string): boolean {
  return lastWord.test(name) && passwordName.test(name) && !settings.test(name);
}

const placeholder = partOf(
  ...'change replace placeholder example your insert here todo dummy fake x{3} \\*{3}'.split(' '),
);

/** Whether a text is a password itself: no switch, path, reference (`$(DB_PASSWORD)`, `vault:lab#db`), hash or placeholder. */
function isPassword(text: string): boolean {
  if (text.length < 3 || text.length > 200 || isPlaceholder(text) || placeholder.test(text)) return false;
  // A path of a vault: `secret/lab/db`.
  if (/^(?:[a-z][a-z-]*\/)+[\w-]+$/.test(text)) return false;
  return !/^(?:true|false|yes|none|null|off|undefined)$|^(?:--|\/|\.|[\w.+-]+:)|[\s<>`]|\$[({\w]|[{}]/i.test(text);
}
