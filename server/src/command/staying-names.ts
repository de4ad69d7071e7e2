import { wordSet } from '../catalog/word-patterns.ts';
import { wordsOf } from './name-words.ts';
import { baseName } from './shell.ts';

/** `main.py` may train, `worker.py` and `poll.py` stay. */
export function isPlainName(script: string): boolean {
  const words = wordsOf(baseName(script));
  return script.endsWith('.py') && words.every((word) => !serverWords.has(word) || startWords.has(word));
}

/** Whether a Python script of unknown use has a name that no server has. */
export function endsByName(script: string | undefined): boolean {
  return script !== undefined && !wordsOf(baseName(script)).some((word) => serverWords.has(word));
}

/** What a script that starts something is called, whatever that is. */
const startWords: ReadonlySet<string> = new Set(['main', 'run', 'start', 'launch', 'entrypoint']);

/** Whether a program with a subcommand may still stay: `cli.py train` ends, `worker.py train` waits for work. */
export function staysWithTask(program: string): boolean {
  const words = wordsOf(baseName(program));
  return words.some(
    (word) => serverWords.has(word) && !startWords.has(word) && !/^(?:app|manage|index|ui|web)$/.test(word),
  );
}

/** What servers and other programs that stay are called. */
export const serverWords = wordSet(
  'main app run start launch web demo bot worker daemon service gradio webui ui entrypoint manage index listener',
  'consumer agent gateway endpoint embed embedding embeddings poll handler tasks chat stream whisper tts asr',
  'detector router proxy',
);
