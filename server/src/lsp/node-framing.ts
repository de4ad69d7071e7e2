import { type Readable, Transform } from 'node:stream';

/** Maximum size of a message: room for a text of the maximum file size twice, with every character escaped. */
const maxMessageBytes = 64 * 2 ** 20;
/** Maximum size of a header, which has two short lines. */
const maxHeaderBytes = 4096;

/**
 * The messages of a stream, each with its length before it. Invalid bytes are dropped up to the next header: with a missing, negative or huge
 * length, the library would wait for the rest of the message indefinitely.
 */
export function framesOf(input: Readable): Readable {
  let head: Buffer = Buffer.alloc(0);
  /** Remaining bytes of the message. */
  let left = 0;
  return input.pipe(
    new Transform({
      transform(chunk: Buffer, _, done) {
        let rest = chunk;
        while (rest.length > 0) {
          if (left > 0) {
            const part = rest.subarray(0, left);
            this.push(part);
            left -= part.length;
            rest = rest.subarray(part.length);
            continue;
          }
          head = head.length === 0 ? rest : Buffer.concat([head, rest]);
          const end = head.indexOf('\r\n\r\n');
          if (end < 0) {
            if (head.length > maxHeaderBytes) head = Buffer.from(head.subarray(-maxHeaderBytes));
            break;
          }
          rest = head.subarray(end + 4);
          const length = lengthIn(head.toString('latin1', Math.max(0, end - maxHeaderBytes), end));
          head = Buffer.alloc(0);
          if (length === undefined) continue;
          this.push(`Content-Length: ${length}\r\n\r\n`);
          left = length;
        }
        done();
      },
    }),
  );
}

/** The last length in a header: anything before it belongs to dropped bytes. */
function lengthIn(header: string): number | undefined {
  const length = [...header.matchAll(/content-length: *(\d+) *(?=\r\n|$)/gi)].at(-1)?.[1];
  return length !== undefined && Number(length) <= maxMessageBytes ? Number(length) : undefined;
}
