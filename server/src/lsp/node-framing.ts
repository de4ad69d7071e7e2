import { type Readable, Transform } from 'node:stream';

/** No message is longer: a text of the size that is read fits in twice, with every character escaped. */
const longest = 64 * 2 ** 20;
/** Headers are two short lines. */
const longestHeader = 4096;

/**
 * The whole messages of a stream, each with its length before it. What is no message is dropped up to the next header: a length that is missing,
 * negative or absurd would make the library wait for the rest until the end.
 */
export function framesOf(input: Readable): Readable {
  let head: Buffer = Buffer.alloc(0);
  /** Bytes of the message still to come. */
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
            if (head.length > longestHeader) head = Buffer.from(head.subarray(-longestHeader));
            break;
          }
          rest = head.subarray(end + 4);
          const length = lengthIn(head.toString('latin1', Math.max(0, end - longestHeader), end));
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

/** The last one counts: what stands before it on its line is the end of something dropped. */
function lengthIn(header: string): number | undefined {
  const said = [...header.matchAll(/content-length: *(\d+) *(?=\r\n|$)/gi)].at(-1)?.[1];
  return said !== undefined && Number(said) <= longest ? Number(said) : undefined;
}
