import { concernsAccelerators } from '../evidence/api-problems.ts';
import { notebookLogins } from '../evidence/notebook-login.ts';
import { placesAt } from '../evidence/written.ts';
import {
  hubPasswords,
  passwordIn,
  runtimeVariables,
  type TextVariable,
  type WrittenPassword,
  writtenPasswords,
} from '../evidence/written-passwords.ts';
import { namesAccelerators } from '../model/accelerators.ts';
import { inlineValues } from '../model/inline-values.ts';
import { groupOf } from '../model/manifest.ts';
import { mayBeValues } from '../model/values.ts';
import { spanInScalar } from '../rewrite/word-span.ts';
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
} from '../yaml/cursor.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { once } from '../yaml/once.ts';
import { shorten } from '../yaml/shorten.ts';
import type { Span } from '../yaml/span.ts';
import { table } from '../yaml/table.ts';
import { defineRule, type RuleContext } from './rule.ts';

/**
 * An access token is written in the file in plain text.
 *
 * ## Why
 *
 * Anyone who can read the file, its history or the pod can use the token: to read private models, or to spend the owner's credit. Revoke it,
 * put a new one into a Secret, and read it with `secretKeyRef`.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: train
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 *       env:
 *         - name: WANDB_API_KEY
 *           value: 3fa1c09be752d4863fa07c19be25d4683af1c90b
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml valid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: train
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 *       env:
 *         - name: WANDB_API_KEY
 *           valueFrom:
 *             secretKeyRef: {name: wandb, key: token}
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * The API key that your own server requires of its clients is information, and so is the token or the password of a notebook (`JUPYTER_TOKEN`,
 * `--ServerApp.token`) or an IDE, and other passwords: those of variables (`DB_PASSWORD`, also of Ray's runtime environments), of addresses (`postgresql://app:…@db/app`), and in the
 * values of a JupyterHub with accelerators.
 *
 * ## When it is silent
 *
 * For texts that do not have the form of a known token or follow the name of one (a login, `WANDB_API_KEY`, `S3_SECRET_KEY`, `--api-key`), for
 * placeholders (`hf_xxxx`, `hf_yourToken`, `hf_abcd1234`), and for other tokens than those for models in Secrets and ConfigMaps.
 *
 * ## Sources
 *
 * - [Jupyter Server: security](https://jupyter-server.readthedocs.io/en/latest/operators/security.html)
 * - [Hugging Face: user access tokens](https://huggingface.co/docs/hub/security-tokens)
 * - [Kubernetes: good practices for Secrets](https://kubernetes.io/docs/concepts/security/secrets-good-practices/)
 * - [GitHub: supported secret scanning patterns](https://docs.github.com/en/code-security/secret-scanning/introduction/supported-secret-scanning-patterns)
 */
export default defineRule({
  topic: 'other',
  severity: 'warning',
  judgesWords: true,
  document(document, { report }) {
    if (document.root === null) return;
    const root = rootCursor(document.root);
    if (!mayBeValues(root)) return;
    if (mayHaveModelToken(document)) checkValues(root, document, report);
    checkHub(root, document, report);
  },
  manifest(manifest, { document, report }) {
    const { root, kind } = manifest;
    for (const { values } of inlineValues(manifest)) checkHub(values, document, report);
    if (mayHaveModelToken(document)) {
      for (const { values } of inlineValues(manifest)) checkValues(values, document, report);
      for (const path of argoParameters) {
        for (const parameter of kind === 'Application' ? placesAt(root, path) : []) {
          const [name, at] = [asText(getIn(parameter, 'name')) ?? '', getIn(parameter, 'value')];
          const value = asText(at);
          if (at !== undefined && value !== undefined) check({ value, at }, name, 'values', document, report);
        }
      }
    }
    if (kind !== 'Secret' && kind !== 'ConfigMap') return;
    // Secrets have base64 in `data`.
    const [key, place] = kind === 'Secret' ? (['stringData', 'secret'] as const) : (['data', 'values'] as const);
    for (const at of entries(getIn(root, key))) checkStored(at, place, document, report);
  },
  container(container, { podSet, document, report }) {
    const usesDevices = namesAccelerators(podSet);
    if (!usesDevices && !mayHaveToken(document)) return;
    for (const { text, ...login } of usesDevices ? notebookLogins(container) : []) {
      report({
        severity: 'info',
        message:
          'The file contains the login of this notebook in plain text: anyone who can read the file can run code on the GPU; use a Secret',
        span: spanInScalar(document, text, login),
      });
    }
    for (const password of usesDevices ? writtenPasswords(container) : []) reportPassword(password, document, report);
    const { env, command, args } = container;
    if (
      ![...command, ...args].concat(env.flatMap(({ value }) => value ?? [])).some(({ value }) => longWord.test(value))
    )
      return;
    const written = env.flatMap(({ name, value }) => (value === undefined ? [] : [{ name, text: value }]));
    const words = [...command, ...args].map((text, at, all) => {
      const before = all.slice(Math.max(0, at - 2), at).map(({ value }) => value.slice(-30));
      return { name: before.join(' '), text };
    });
    for (const { name, text } of [...written, ...words]) {
      if (usesDevices || !/password$/i.test(name)) check(text, name, 'pod', document, report);
    }
  },
  workload({ apiVersion, manifest, podSets }, { document, report }) {
    if (groupOf(apiVersion) !== 'ray.io' || !podSets.some(namesAccelerators)) return;
    // Working directories are often archives of private repositories.
    for (const key of ['serveConfigV2', 'runtimeEnvYAML', 'entrypoint']) {
      const at = getIn(manifest.root, 'spec', key);
      const value = asText(at);
      if (at === undefined || value === undefined) continue;
      const variables = key === 'entrypoint' ? [] : runtimeVariables(at, value);
      const found = variables.filter((one) => checkVariable(one, document, report));
      if (found.length === 0) check({ value, at }, '', 'pod', document, report);
    }
  },
});

/** Whether a variable in a text has a token, which is then reported. A password is reported, too. */
function checkVariable(variable: TextVariable, document: YamlDocument, report: RuleContext['report']): boolean {
  const { name, text, start, value } = variable;
  const found = tokenIn({ value, at: text.at }, name);
  if (found !== undefined) {
    reportToken({ ...found, start: start + found.start, end: start + found.end }, text, 'pod', document, report);
    return true;
  }
  const password = passwordIn(variable);
  if (password !== undefined) reportSecret(password, document, report);
  return false;
}

function checkHub(values: Cursor, document: YamlDocument, report: RuleContext['report']): void {
  const passwords = hubPasswords(values);
  if (passwords.length === 0 || !concernsAccelerators(values.node, 'Deployment')) return;
  for (const password of passwords) reportPassword(password, document, report);
}

function reportPassword(password: WrittenPassword, document: YamlDocument, report: RuleContext['report']): void {
  if (tokenIn(password.text, password.name) === undefined) reportSecret(password, document, report);
}

function reportSecret(
  { text, name, inUrl, ...part }: WrittenPassword,
  document: YamlDocument,
  report: RuleContext['report'],
): void {
  const subject = inUrl
    ? `${name === '' ? 'An address' : `The address in ${shorten(name, 40)}`} contains a password`
    : `${shorten(name, 40)} is a secret`;
  report({
    severity: 'info',
    message: `${subject} in plain text: anyone who can read the file can use it; use a Secret`,
    span: spanInScalar(document, text, part),
  });
}

/** Charts write values into Secrets and variables. */
function checkValues(at: Cursor, document: YamlDocument, report: RuleContext['report']): void {
  for (const child of [...entries(at), ...items(at)]) {
    if (child.node.kind !== 'scalar') checkValues(child, document, report);
    else checkStored(child, 'values', document, report);
  }
}

/** A token for models in an object that a pod reads. Other tokens also have other uses. */
function checkStored(at: Cursor, place: Place, document: YamlDocument, report: RuleContext['report']): void {
  const value = asText(at);
  if (value !== undefined) check({ value, at }, keyOf(at).replaceAll(/[.-]/g, '_'), place, document, report);
}

const argoParameters = ['spec.source.helm.parameters.*', 'spec.sources.*.helm.parameters.*'];

/** `values`: only tokens for models count. */
type Place = 'pod' | 'values' | 'secret';

const mayHaveModelToken = once(({ text }: YamlDocument) => /hf_\w{30}|nvapi-/.test(text));

/** Clients of models and agents have keys, but no devices. */
const mayHaveToken = once((document: YamlDocument) => mayHaveModelToken(document) || /api_key/i.test(document.text));

const ofModels: ReadonlySet<string> = new Set(['Hugging Face', 'NVIDIA', 'Weights & Biases']);

function check(
  text: Located<string>,
  name: string,
  place: Place,
  document: YamlDocument,
  report: RuleContext['report'],
): void {
  const found = isTemplated(text.at) ? undefined : tokenIn(text, name);
  if (found === undefined || !(place === 'pod' || ofModels.has(found.owner))) return;
  reportToken(found, text, place, document, report);
}

function reportToken(
  found: Token,
  text: Located<string>,
  place: Place,
  document: YamlDocument,
  report: RuleContext['report'],
): void {
  // The message must not repeat the token: reports are published.
  report({
    ...(found.owner === 'this server' && { severity: 'info' }),
    message: `The file contains ${wordOf[found.owner] ?? `${found.owner.startsWith('NV') ? 'an' : 'a'} ${found.owner} token`} in plain text: anyone who can read the file can use it; revoke it and ${place === 'secret' ? 'keep it out of the file' : 'use a Secret'}`,
    span: spanInScalar(document, text, found),
  });
}

/** Keys that no prefix assigns to a service. */
const wordOf = table<string>({
  'this server': 'the API key of this server',
  'a service': 'a secret key',
  'an S3 store': 'the secret key of an S3 store',
});

interface TokenForm {
  readonly prefix: string;
  readonly owner: string;
  readonly rest: RegExp;
}

const forms: readonly TokenForm[] = [
  { prefix: 'hf_', owner: 'Hugging Face', rest: /^[A-Za-z0-9]{30,40}$/ },
  { prefix: 'nvapi-', owner: 'NVIDIA', rest: /^[\w-]{60,80}$/ },
  { prefix: 'ghp_', owner: 'GitHub', rest: /^[A-Za-z0-9]{36}$/ },
  { prefix: 'github_pat_', owner: 'GitHub', rest: /^\w{60,90}$/ },
  { prefix: 'glpat-', owner: 'GitLab', rest: /^[\w-]{20}$/ },
  { prefix: 'sk-proj-', owner: 'OpenAI', rest: /^[\w-]{40,200}$/ },
  { prefix: 'sk-ant-', owner: 'Anthropic', rest: /^[\w-]{40,120}$/ },
  { prefix: 'gsk_', owner: 'Groq', rest: /^[A-Za-z0-9]{52}$/ },
  { prefix: 'r8_', owner: 'Replicate', rest: /^[A-Za-z0-9]{37}$/ },
  { prefix: 'AIza', owner: 'Google', rest: /^[\w-]{35}$/ },
  { prefix: 'dckr_pat_', owner: 'Docker Hub', rest: /^[\w-]{27}$/ },
  // Many services and self-hosted servers follow OpenAI.
  {
    prefix: 'sk-',
    owner: 'a service',
    rest: /^(?:[\w-]{0,100}-)?(?=\w*\d[A-Za-z_]+\d)(?=\w*[A-Z])(?=\w*[a-z])\w{12,200}$/,
  },
];

/** Names of values that are secrets, with the flag or the variable as the last word: `--api-key`, `S3_SECRET_KEY`. */
const secretName = /(?:^|[\s_-])(?:(?:api|access|secret|auth|master)[-_]?(?:key|token)|password)$/i;

/** The key that a server of one's own asks of its clients. */
const ownKey = /--api-key$|^(?:VLLM_API_KEY|LITELLM_MASTER_KEY)$/;

/** Whether a whole value has the form of a random key: letters of both cases and digits, and nothing else that words have. */
function isKey(value: string): boolean {
  return (
    /^[A-Za-z0-9+/=_-]{24,128}$/.test(value) &&
    /[a-z]/.test(value) &&
    /[A-Z]/.test(value) &&
    /\d.*\d.*\d/.test(value) &&
    !/^\/|[/_-].*[/_-].*[/_-]/.test(value)
  );
}

/** Every token has one. Most texts have none, and need no search. */
const longWord = /[\w+/=-]{24}/;

interface Token extends Span {
  readonly owner: string;
}

function tokenIn({ value }: Located<string>, name: string): Token | undefined {
  if (value.length > 100_000 || !longWord.test(value)) return undefined;
  if (name === 'AWS_SECRET_ACCESS_KEY' && /^[A-Za-z0-9/+]{40}$/.test(value) && isRandom(value))
    return { owner: 'an S3 store', start: 0, end: value.length };
  // The words of a command so far, in which a name or a login says what follows.
  let before = name;
  let end = 0;
  for (const { 0: word, index } of value.matchAll(/[\w-]+/g)) {
    if (/[;&|\n]/.test(value.slice(end, index))) before = name;
    end = index + word.length;
    const form = forms.find(({ prefix }) => word.startsWith(prefix));
    const rest = word.slice(form?.prefix.length ?? 0);
    // Keys of Weights & Biases have no prefix.
    const hasForm =
      form?.rest.test(rest) ?? (/^[0-9a-f]{40}$/.test(word) && /wandb\W*(?:login|\w*(?:key|token)$)/i.test(before));
    if (hasForm && isRandom(rest)) {
      const owner = form?.owner ?? 'Weights & Biases';
      return { owner: owner === 'a service' && ownKey.test(before) ? 'this server' : owner, start: index, end };
    }
    before = `${before.slice(-60)} ${word}`;
  }
  // Keys of Kaggle and others are hexadecimal, as identifiers are, too.
  const isHex = /(?:kaggle|api|secret)_?key$/i.test(name) && /^(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})$/.test(value);
  if (!isHex && !(secretName.test(name) && isKey(value))) return undefined;
  if (!isRandom(value)) return undefined;
  return { owner: ownKey.test(name) ? 'this server' : 'a service', start: 0, end: value.length };
}

/** Whether a text is not made of words. */
function isRandom(text: string): boolean {
  if (/x{4}|abcd|1234|token|your|here|replace|example|secret|dummy|fake|insert|change/i.test(text)) return false;
  return new Set(text).size > 9 && (/[A-Z]/.test(text) ? /[a-z0-9]/.test(text) : /\d/.test(text));
}
