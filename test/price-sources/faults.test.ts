// What goes wrong on the way: nothing is lost, nothing is endless, and the message names the address and the reason.
import fs from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { refresh } from '../../server/src/price-sources/refresh.ts';
import { temporaryFolder } from '../cli/run-cli.ts';
import {
  awsFile,
  awsIndex,
  awsList,
  azureItem,
  hosts,
  json,
  partly,
  type Route,
  rest,
  skypilotFile,
  startPriceServer,
  status,
  text,
} from '../support/price-server.ts';
import { optionsFor, resultOf, shown } from './refresh-options.ts';

const api = `https://${hosts.azure}`;
const page = (next: string | null = null, region = 'eastus') =>
  json({ Items: [azureItem({ armRegionName: region })], NextPageLink: next });
const h100 = 'Standard_ND96isr_H100_v5 eastus on-demand 98.32';

/** Azure's API, with one route for each page after the first. */
function pages(
  first: Route | readonly Route[],
  more: Readonly<Partial<Record<string, Route | readonly Route[]>>> = {},
) {
  const others = Object.entries(more).map(([skip, route]) => [`${hosts.azure}?$skip=${skip}`, route ?? []] as const);
  return startPriceServer(new Map<string, Route | readonly Route[]>([[hosts.azure, first], ...others]));
}

/** The problems of a refresh, without the address that they start with. */
async function problemsOf(server: Awaited<ReturnType<typeof pages>>, other: Parameters<typeof optionsFor>[2] = {}) {
  const { problems } = await resultOf(optionsFor('azure', server, other));
  return problems.map((problem) => problem.replace(/^https:\S+: /, ''));
}

describe('answers', () => {
  it('404: says so at once, names the address, and keeps what other files gave', async () => {
    const server = await pages(page(`${api}?$skip=1`), { 1: status(404) });
    const result = await resultOf(optionsFor('azure', server));
    expect(result.problems).toEqual([`${api}?$skip=1: it answered 404: the file no longer exists`]);
    expect(shown(result)).toEqual([h100]);
    expect(server.requested).toHaveLength(2);
  });

  it('500 and 429: asks again a few times', async () => {
    const server = await pages([status(500), status(429), status(503), page()]);
    expect(shown(await resultOf(optionsFor('azure', server)))).toEqual([h100]);
    expect(server.requested).toHaveLength(4);
  });

  it('500 again and again: gives up', async () => {
    const server = await pages(status(500));
    expect(await problemsOf(server)).toEqual(['it answered 500']);
    expect(server.requested).toHaveLength(4);
  });

  it.each([
    ['<html>Sign in</html>', 'its format is unexpected: it is not JSON'],
    ['{"Items": {}}', 'its format is unexpected: it has no list "Items"'],
    ['{"Items": [], "NextPageLink": 7}', 'its format is unexpected: "NextPageLink" is not an address'],
    ['[]', 'its format is unexpected: it has no list "Items"'],
  ])('%s: the format is unexpected', async (body, problem) => {
    expect(await problemsOf(await pages(text(body)))).toEqual([problem]);
  });

  it('a list without a single GPU machine is a problem', async () => {
    expect(await problemsOf(await pages(json({ Items: [] })))).toEqual([
      'the Azure Retail Prices API has no prices of GPU machines',
    ]);
  });

  it('a CSV without the columns, or without an end', async () => {
    const list = awsList({ 'Instance Type': 'g6.xlarge', PricePerUnit: '1' });
    for (const [body, problem] of [
      [list.replace('"PricePerUnit"', '"Price"'), 'its format is unexpected: it has no column "PricePerUnit"'],
      ['<html></html>', 'its format is unexpected: it has no line of column names'],
      [`${list}"A1","On`, 'it ends in the middle of a line'],
      [`${list}${'x'.repeat(1_100_000)}`, 'a line is longer than 1 MB'],
    ] as const) {
      const server = await startPriceServer(
        new Map<string, Route>([
          [hosts.awsIndex, json(awsIndex('us-east-1'))],
          [hosts.spotAdvisor, json({ spot_advisor: {} })],
          [awsFile('us-east-1'), text(body)],
        ]),
      );
      const { problems } = await resultOf(optionsFor('aws', server));
      expect(problems).toEqual([`https://${awsFile('us-east-1')}: ${problem}`]);
    }
  });

  it('compressed content that ends early', async () => {
    const bytes = gzipSync(JSON.stringify({ Items: [azureItem({})] }));
    const broken: Route = (_, response) =>
      void response.writeHead(200, { 'content-encoding': 'gzip' }).end(bytes.subarray(0, bytes.length - 20));
    expect(await problemsOf(await pages(broken))).toEqual(['unexpected end of file']);
  });
});

describe('limits', () => {
  it('pages that lead back to themselves', async () => {
    const server = await pages(page(`${api}?$skip=1`), { 1: page(`${api}?$skip=2`), 2: page(`${api}?$skip=1`) });
    expect(await problemsOf(server)).toEqual(['its pages never end']);
    expect(server.requested).toHaveLength(3);
  });

  it('pages without end', async () => {
    let count = 0;
    const endless: Route = (request, response) => page(`${api}?$skip=${count++}`)(request, response);
    const server = await startPriceServer(new Map([[hosts.azure, endless]]));
    expect(await problemsOf(server)).toEqual(['its pages never end']);
    expect(server.requested.length).toBeLessThanOrEqual(200);
  });

  it('more rows than a price list can have', async () => {
    const regions = Array.from({ length: 60 }, (_, index) => azureItem({ armRegionName: `region${index}` }));
    const server = await pages(json({ Items: regions }));
    expect(await problemsOf(server, { limits: { facts: 50 } })).toEqual([
      'it has more rows than a price list can have',
    ]);
  });

  it('a file that is too large, announced or not, compressed or not', async () => {
    const large = JSON.stringify({ Items: Array.from({ length: 500 }, () => azureItem({})) });
    const unannounced: Route = (_, response) => {
      response.write(large);
      response.end();
    };
    const bomb: Route = (_, response) =>
      void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(large));
    const limits = { file: 20_000, text: 20_000, json: 20_000 };
    for (const route of [text(large), unannounced, bomb]) {
      const server = await pages(route);
      expect(await problemsOf(server, { limits })).toEqual(['it is larger than a price list can be']);
      expect(server.requested).toHaveLength(1);
    }
  });

  it('a huge list takes little memory and keeps only GPU machines', async () => {
    const plain = awsList({ 'Instance Type': 'm5.large', PricePerUnit: '0.096' }).split('\n').at(-2) ?? '';
    const huge: Route = (_, response) => {
      response.write(awsList({ 'Instance Type': 'g6.xlarge', PricePerUnit: '0.8048' }));
      for (let block = 0; block < 20; block += 1) response.write(`${plain}\n`.repeat(5000));
      response.end();
    };
    const server = await startPriceServer(
      new Map<string, Route>([
        [hosts.awsIndex, json(awsIndex('us-east-1'))],
        [hosts.spotAdvisor, json({ spot_advisor: {} })],
        [awsFile('us-east-1'), huge],
      ]),
    );
    const options = optionsFor('aws', server);
    expect(shown(await resultOf(options))).toEqual(['g6.xlarge us-east-1 on-demand 0.8048']);
    expect(fs.existsSync(options.folder)).toBe(false);
  });
});

describe('hosts', () => {
  it('follows a redirect within the host', async () => {
    const server = await pages(status(302, { location: '?$skip=1' }), { 1: page() });
    const found = await resultOf(optionsFor('azure', server));
    expect([...shown(found), ...found.problems]).toEqual([h100]);
  });

  it('follows no redirect to another host, and no page on one', async () => {
    const other = await pages(page());
    const redirect = status(302, { location: `${other.mirror}/${hosts.azure}` });
    expect(await problemsOf(await pages(redirect))).toEqual([
      `it redirects to another host (${new URL(other.mirror).host}), which is not followed`,
    ]);
    expect(await problemsOf(await pages(page('https://example.com/prices')))).toEqual([
      'it continues on another host (example.com), which is not followed',
    ]);
    expect(other.requested).toEqual([]);
  });

  it('follows no circle of redirects', async () => {
    const server = await pages(status(302, { location: '?$skip=1' }), { 1: status(302, { location: '?$skip=1' }) });
    expect(await problemsOf(server)).toEqual(['it redirects too often']);
  });

  it('connects without encryption only to this machine', async () => {
    expect(await problemsOf({ mirror: 'http://mirror.example', requested: [] })).toEqual([
      'http://mirror.example is not an https address',
    ]);
  });

  it('says that a host cannot be reached', async () => {
    const server = await pages(page());
    const closed = new URL(server.mirror);
    closed.port = '1';
    expect(await problemsOf({ mirror: closed.href, requested: [] })).toEqual(['nothing accepts connections there']);
    // Once for all files of the host.
    const { problems } = await resultOf(optionsFor('skypilot', { mirror: closed.href }));
    expect(problems).toEqual([`https://${skypilotFile('aws')}: nothing accepts connections there`]);
  });
});

describe('interruptions', () => {
  const list = awsList({ 'Instance Type': 'g6.xlarge', PricePerUnit: '0.8048' });
  const amazon = (file: Route | readonly Route[]) =>
    startPriceServer(
      new Map<string, Route | readonly Route[]>([
        [hosts.awsIndex, json(awsIndex('us-east-1'))],
        [hosts.spotAdvisor, json({ spot_advisor: {} })],
        [awsFile('us-east-1'), file],
      ]),
    );

  it('a connection that breaks continues where it ended', async () => {
    const ranges: unknown[] = [];
    const second: Route = (request, response) => {
      ranges.push(request.headers.range);
      rest(list)(request, response);
    };
    const server = await amazon([partly(list, 300), second]);
    expect(shown(await resultOf(optionsFor('aws', server)))).toEqual(['g6.xlarge us-east-1 on-demand 0.8048']);
    expect(ranges).toEqual(['bytes=300-']);
  });

  it('begins again if the server has another file now, or cannot say', async () => {
    for (const etag of ['"two"', 'W/"one"', undefined]) {
      const again: Route = (_, response) => void response.writeHead(200, etag === undefined ? {} : { etag }).end(list);
      const server = await amazon([partly(list.replaceAll('g6', 'g5'), 300), again]);
      expect(shown(await resultOf(optionsFor('aws', server)))).toEqual(['g6.xlarge us-east-1 on-demand 0.8048']);
    }
  });

  it('begins again if the part has more bytes than the file', async () => {
    const server = await amazon([partly(list, 300), status(416), text(list)]);
    expect(shown(await resultOf(optionsFor('aws', server)))).toHaveLength(1);
  });

  it('rejects a file that continues at the wrong place', async () => {
    const wrong: Route = (_, response) =>
      void response.writeHead(206, { 'content-range': 'bytes 0-9/10' }).end(list.slice(0, 10));
    const { problems } = await resultOf(optionsFor('aws', await amazon([partly(list, 300), wrong])));
    expect(problems).toEqual([`https://${awsFile('us-east-1')}: it continues at the wrong place`]);
  });

  it('a canceled refresh ends at once, and the next one continues: with its files and within one', async () => {
    const folder = temporaryFolder();
    const server = await amazon([partly(list, 300, 'hang'), rest(list)]);
    const stop = new AbortController();
    const canceled = resultOf(
      optionsFor('aws', server, {
        folder,
        signal: stop.signal,
        progress: ({ received, url }) => {
          if (url.endsWith('.csv') && received > 0) stop.abort(new Error('canceled'));
        },
      }),
    );
    await expect(canceled).rejects.toThrow('canceled');
    expect(shown(await resultOf(optionsFor('aws', server, { folder })))).toHaveLength(1);
    // The index and the advisor were complete.
    const file = awsFile('us-east-1');
    expect(server.requested).toEqual([hosts.awsIndex, hosts.spotAdvisor, file, file]);
    expect(fs.existsSync(folder)).toBe(false);
  });

  it('pages that were read before a failure are not read again', async () => {
    const folder = temporaryFolder();
    const server = await pages(page(`${api}?$skip=1`), { 1: [status(404), page(null, 'westus')] });
    const [first, second] = [
      await resultOf(optionsFor('azure', server, { folder })),
      await resultOf(optionsFor('azure', server, { folder })),
    ];
    expect([first.problems.length, second.problems.length]).toEqual([1, 0]);
    expect(shown(second)).toEqual([h100, h100.replace('eastus', 'westus')]);
    expect(server.requested).toHaveLength(3);
  });

  it('what another day, other regions or a broken journal left is read again', async () => {
    const folder = temporaryFolder();
    const server = await pages(page(`${api}?$skip=1`), { 1: status(404) });
    await resultOf(optionsFor('azure', server, { folder }));
    const read = server.requested.length;
    await resultOf(optionsFor('azure', server, { folder, today: '2026-11-23' }));
    expect(server.requested.length).toBe(2 * read);
    fs.appendFileSync(path.join(folder, 'azure.ndjson'), '{"url":"https://prices.azure.com/api/ret');
    const again = await resultOf(optionsFor('azure', server, { folder, today: '2026-11-23' }));
    // The first page is in the journal; the second is missing again.
    expect(shown(again)).toEqual([h100]);
    expect(server.requested.length).toBe(2 * read + 1);
  });

  it('a server that sends nothing more', async () => {
    const server = await amazon([partly(list, 300, 'hang'), rest(list)]);
    expect(shown(await resultOf(optionsFor('aws', server, { idleMs: 50 })))).toHaveLength(1);
  });

  it('two refreshes do not mix', async () => {
    const folder = temporaryFolder();
    fs.writeFileSync(path.join(folder, 'lock'), String(process.ppid));
    const server = await pages(page());
    const all = refresh(optionsFor('azure', server, { folder }));
    await expect(all.next()).rejects.toThrow(`another refresh is running (process ${process.ppid})`);
    // Of one that was killed, only the number is left.
    fs.writeFileSync(path.join(folder, 'lock'), '999999999');
    expect(shown(await resultOf(optionsFor('azure', server, { folder })))).toEqual([h100]);
  });
});
