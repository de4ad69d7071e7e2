// A local server that speaks the formats of the price sources: each file below the name of its host, as a mirror serves them.
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { onTestFinished } from 'vitest';

/** Answers one request. */
export type Route = (request: http.IncomingMessage, response: http.ServerResponse) => void;

export interface PriceServer {
  /** For `mirror` and GPULINT_PRICES_MIRROR. */
  readonly mirror: string;
  /** The requests so far: host, path and query. */
  readonly requested: readonly string[];
}

/**
 * Starts a server until the end of the test.
 * @param routes by host and path; a query is part of the key, and the key without it is the fallback. Several routes answer one request each, the last
 * one all others
 */
export async function startPriceServer(routes: ReadonlyMap<string, Route | readonly Route[]>): Promise<PriceServer> {
  const requested: string[] = [];
  const counts = new Map<string, number>();
  const server = http.createServer((request, response) => {
    const name = decodeURIComponent((request.url ?? '').slice(1));
    requested.push(name);
    const route = routes.get(name) ?? routes.get(name.split('?')[0] ?? '');
    const count = counts.get(name) ?? 0;
    counts.set(name, count + 1);
    const answer = typeof route === 'function' ? route : route?.[Math.min(count, route.length - 1)];
    if (answer === undefined) response.writeHead(404).end();
    else answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { mirror: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requested };
}

export function text(body: string, headers: http.OutgoingHttpHeaders = {}): Route {
  return (_, response) => void response.writeHead(200, headers).end(body);
}

export function json(value: unknown): Route {
  return text(JSON.stringify(value));
}

export function gzipped(body: string): Route {
  return (_, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(body));
}

export function status(code: number, headers: http.OutgoingHttpHeaders = {}): Route {
  return (_, response) => void response.writeHead(code, headers).end();
}

/** Sends the first bytes, and then breaks the connection or (`hang`) sends nothing more. */
export function partly(body: string, bytes: number, end: 'break' | 'hang' = 'break'): Route {
  return (_, response) => {
    response.writeHead(200, { etag: '"one"', 'content-length': Buffer.byteLength(body) });
    response.write(body.slice(0, bytes), () => {
      if (end === 'break') response.destroy();
    });
  };
}

/** Sends the rest of a body that a request already has a part of. */
export function rest(body: string, etag = '"one"'): Route {
  return (request, response) => {
    const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? Number.NaN);
    if (request.headers['if-range'] !== etag || Number.isNaN(start)) {
      response.writeHead(200, { etag }).end(body);
      return;
    }
    const range = `bytes ${start}-${body.length - 1}/${body.length}`;
    response.writeHead(206, { etag, 'content-range': range }).end(body.slice(start));
  };
}

export const hosts = {
  awsIndex: 'pricing.us-east-1.amazonaws.com/offers/v1.0/aws/AmazonEC2/current/region_index.json',
  spotAdvisor: 'spot-bid-advisor.s3.amazonaws.com/spot-advisor-data.json',
  azure: 'prices.azure.com/api/retail/prices',
  gcp: 'cloudbilling.googleapis.com/v1/services/6F81-5844-456A/skus',
} as const;

export function awsFile(region: string): string {
  return `pricing.us-east-1.amazonaws.com/offers/v1.0/aws/AmazonEC2/20261120000000/${region}/index.csv`;
}

export function skypilotFile(cloud: string): string {
  return `raw.githubusercontent.com/skypilot-org/skypilot-catalog/master/catalogs/v8/${cloud}/vms.csv`;
}

export function awsIndex(...regions: readonly string[]): unknown {
  const entries = regions.map((region) => {
    const path = `/offers/v1.0/aws/AmazonEC2/20261120000000/${region}/index.json`;
    return [region, { regionCode: region, currentVersionUrl: path }] as const;
  });
  return { formatVersion: 'v1.0', publicationDate: '2026-11-20T00:00:00Z', regions: Object.fromEntries(entries) };
}

const awsColumns = [
  'SKU',
  'OfferTermCode',
  'RateCode',
  'TermType',
  'PriceDescription',
  'Unit',
  'PricePerUnit',
  'Currency',
  'Location Type',
  'Instance Type',
  'Tenancy',
  'Operating System',
  'CapacityStatus',
  'Pre Installed S/W',
  'Region Code',
  'MarketOption',
] as const;

/** A row of a region's price list: a plain Linux machine, with other values where given. */
export type AwsRow = Readonly<Partial<Record<(typeof awsColumns)[number], string>>>;

export function awsList(...rows: readonly AwsRow[]): string {
  const usual: AwsRow = {
    SKU: 'A1',
    TermType: 'OnDemand',
    PriceDescription: 'On Demand "Linux", per hour',
    Unit: 'Hrs',
    Currency: 'USD',
    'Location Type': 'AWS Region',
    Tenancy: 'Shared',
    'Operating System': 'Linux',
    CapacityStatus: 'Used',
    'Pre Installed S/W': 'NA',
    'Region Code': 'us-east-1',
    MarketOption: 'OnDemand',
  };
  const line = (fields: readonly string[]) => `${fields.map((one) => `"${one.replaceAll('"', '""')}"`).join(',')}\n`;
  const preamble = [
    '"FormatVersion","v1.0"',
    '"Disclaimer","For information only, see the ""terms"""',
    '"OfferCode","AmazonEC2"',
  ];
  const lines = rows.map((row) => line(awsColumns.map((name) => ({ ...usual, ...row })[name] ?? '')));
  return `${preamble.join('\n')}\n${line(awsColumns)}${lines.join('')}`;
}

export function azureItem(values: Readonly<Partial<Record<string, unknown>>>): unknown {
  return {
    currencyCode: 'USD',
    retailPrice: 98.32,
    armRegionName: 'eastus',
    effectiveStartDate: '2026-03-01T00:00:00Z',
    meterName: 'ND96isr H100 v5',
    productName: 'Virtual Machines NDsr H100 v5 Series',
    skuName: 'ND96isr H100 v5',
    unitOfMeasure: '1 Hour',
    type: 'Consumption',
    isPrimaryMeterRegion: true,
    armSkuName: 'Standard_ND96isr_H100_v5',
    ...values,
  };
}

export function gcpSku(
  description: string,
  group: string,
  usd: number,
  usageType = 'OnDemand',
  regions: readonly string[] = ['us-central1'],
): unknown {
  const unitPrice = { currencyCode: 'USD', units: String(Math.floor(usd)), nanos: Math.round((usd % 1) * 1e9) };
  const usageUnit = group === 'RAM' ? 'GiBy.h' : 'h';
  return {
    description,
    category: { resourceFamily: 'Compute', resourceGroup: group, usageType },
    serviceRegions: regions,
    pricingInfo: [{ pricingExpression: { usageUnit, tieredRates: [{ startUsageAmount: 0, unitPrice }] } }],
  };
}
