import { oneOf } from '../catalog/word-patterns.ts';
import { once } from '../model/once.ts';
import type { Container } from '../model/workload.ts';
import { isTemplated, type Located } from '../yaml/cursor.ts';
import { isPlaceholder } from '../yaml/placeholder.ts';

/** The token or the password of a notebook or an IDE, as a part of a text. */
export interface Login {
  readonly text: Located<string>;
  readonly start: number;
  readonly end: number;
}

/** The tokens and passwords that a container sets for its notebook or IDE in plain text. Empty ones and hashes are not secrets. */
export const notebookLogins = once(({ env, command, args, image }: Container): readonly Login[] => {
  const isIde = image !== undefined && ideImage.test(image.value);
  const found: Login[] = [];
  for (const { name, value } of env) {
    if (value === undefined || isTemplated(value.at)) continue;
    if (name !== 'JUPYTER_TOKEN' && !(isIde && ideVariable.test(name))) continue;
    if (isLogin(value.value)) found.push({ text: value, start: 0, end: value.value.length });
  }
  for (const text of [...command, ...args]) {
    if (text.value.length > LONGEST || !mayHaveFlag.test(text.value) || isTemplated(text.at)) continue;
    for (const { 0: all, 1: login = '', index } of text.value.matchAll(flag))
      if (isLogin(login)) found.push({ text, start: index + all.length - login.length, end: index + all.length });
  }
  return found;
});

/** A longer script is not read. */
const LONGEST = 20_000;

/** Flags of Jupyter's applications: `--ServerApp.token=…`. */
const applications = oneOf('NotebookApp ServerApp LabApp IdentityProvider PasswordIdentityProvider');
const word = /[^\s'"`$<>{}();&|]+/.source;
const mayHaveFlag = /\.(?:token|password)/;
const flag = new RegExp(`--(?:${applications})\\.(?:token|password)(?:=|\\s+)['"]?(${word})`, 'g');

const ideImage = /(?:code-server|openvscode-server|rstudio)(?::|@|$)/;
const ideVariable = /^(?:SUDO_)?PASSWORD$|^CONNECTION_TOKEN$/;

/** Whether a text is a secret itself: no flag, path or reference (`$(TOKEN)`, `vault:lab#token`), and no hash (`argon2:…`). */
function isLogin(text: string): boolean {
  return text.length > 2 && !isPlaceholder(text) && !/^(?:--|\/|none$|[\w.+-]+:)|\$[({\w]/i.test(text);
}
