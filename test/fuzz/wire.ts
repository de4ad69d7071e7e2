import type { Readable, Writable } from 'node:stream';

/** A JSON-RPC message as transmitted, valid or invalid. */
export interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

/** One end of a connection that sends anything, including invalid messages, which a library would not. */
export interface Wire {
  send(message: Message): void;
}

/** Writes to one stream, and passes on what arrives from the other. */
export function openWire(input: Readable, output: Writable, receive: (message: Message) => void): Wire {
  let buffer = Buffer.alloc(0);
  input.on('data', (chunk: Buffer) => {
    buffer = Buffer.concat([buffer, chunk]);
    for (;;) {
      const end = buffer.indexOf('\r\n\r\n');
      if (end < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(buffer.subarray(0, end).toString())?.[1]);
      if (buffer.length < end + 4 + length) return;
      const body = buffer.subarray(end + 4, end + 4 + length).toString();
      buffer = buffer.subarray(end + 4 + length);
      receive(JSON.parse(body));
    }
  });
  return {
    send(message) {
      const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }));
      output.write(Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body]));
    },
  };
}
