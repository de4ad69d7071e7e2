// The formats of the sources: AWS's price list and Spot Advisor, Azure's pages, SkyPilot's catalog, Google Cloud's SKUs.
import { describe, expect, it } from 'vitest';
import {
  awsFile,
  awsIndex,
  awsList,
  azureItem,
  gcpSku,
  gzipped,
  hosts,
  json,
  type Route,
  skypilotFile,
  startPriceServer,
  text,
} from '../support/price-server.ts';
import { optionsFor, resultOf, shown } from './refresh-options.ts';

describe('AWS', () => {
  const p5 = { 'Instance Type': 'p5.48xlarge', PricePerUnit: '55.0400000000' };

  it('reads the on-demand price of plain Linux machines, and derives spot prices from savings', async () => {
    const advisor = {
      ranges: [],
      spot_advisor: {
        'us-east-1': { Linux: { 'p5.48xlarge': { s: 60, r: 4 } }, Windows: { 'g5.xlarge': { s: 10, r: 0 } } },
      },
    };
    const server = await startPriceServer(
      new Map<string, Route>([
        [hosts.awsIndex, json(awsIndex('us-east-1', 'eu-west-1'))],
        [hosts.spotAdvisor, json(advisor)],
        [awsFile('us-east-1'), gzipped(awsList(p5, { 'Instance Type': 'g5.xlarge', PricePerUnit: '1.0060000000' }))],
      ]),
    );
    const result = await resultOf(optionsFor('aws', server));
    expect(result.problems).toEqual([]);
    expect(shown(result)).toEqual([
      'p5.48xlarge us-east-1 on-demand 55.04',
      'p5.48xlarge us-east-1 spot 22.016',
      'g5.xlarge us-east-1 on-demand 1.006',
    ]);
    expect(result.prices[0]).toMatchObject({
      provider: 'aws',
      date: '2026-11-22',
      source: `https://${awsFile('us-east-1')}`,
    });
    expect(result.prices[1]).toMatchObject({
      basis: 'derived: on-demand x (1 - Spot Advisor savings of 2026-11-22)',
      source: `https://${hosts.spotAdvisor}`,
    });
  });

  it('leaves out what is not a plain machine on demand', async () => {
    const list = awsList(
      { ...p5, TermType: 'Reserved' },
      { ...p5, Tenancy: 'Dedicated' },
      { ...p5, 'Operating System': 'Windows' },
      { ...p5, 'Pre Installed S/W': 'SQL Std' },
      { ...p5, CapacityStatus: 'UnusedCapacityReservation' },
      { ...p5, 'Location Type': 'AWS Local Zone', 'Region Code': 'us-east-1-atl-1' },
      { ...p5, MarketOption: 'CapacityBlock' },
      { ...p5, Unit: 'Quantity' },
      { ...p5, Currency: 'CNY' },
      { ...p5, PricePerUnit: '0.0000000000' },
      { 'Instance Type': 'm5.large', PricePerUnit: '0.0960000000' },
      { 'Instance Type': 'constructor', PricePerUnit: '1.0000000000' },
      // Two prices for the same: unknown which one applies.
      { 'Instance Type': 'g5.xlarge', PricePerUnit: '1.0' },
      { 'Instance Type': 'g5.xlarge', PricePerUnit: '1.1' },
      { 'Instance Type': 'g6.xlarge', PricePerUnit: '0.8048' },
    );
    const server = await startPriceServer(
      new Map<string, Route>([
        [hosts.awsIndex, json(awsIndex('us-east-1'))],
        [hosts.spotAdvisor, json({ spot_advisor: {} })],
        [awsFile('us-east-1'), text(list)],
      ]),
    );
    expect(shown(await resultOf(optionsFor('aws', server)))).toEqual(['g6.xlarge us-east-1 on-demand 0.8048']);
  });

  it('reads only the wanted regions: each is a large file', async () => {
    const west = { ...p5, 'Region Code': 'eu-west-1' };
    const server = await startPriceServer(
      new Map<string, Route>([
        [hosts.awsIndex, json(awsIndex('us-east-1', 'eu-west-1'))],
        [hosts.spotAdvisor, json({ spot_advisor: {} })],
        [awsFile('eu-west-1'), text(awsList(west))],
      ]),
    );
    const options = optionsFor('aws', server, { regions: ['eu-west-1', 'westeurope'] });
    expect(shown(await resultOf(options))).toEqual(['p5.48xlarge eu-west-1 on-demand 55.04']);
    expect(server.requested).toEqual([hosts.awsIndex, hosts.spotAdvisor, awsFile('eu-west-1')]);
  });
});

describe('Azure', () => {
  const next = `https://${hosts.azure}?$skip=2`;

  it('follows the pages, and tells spot from on demand', async () => {
    const server = await startPriceServer(
      new Map<string, Route>([
        [
          `${hosts.azure}?$skip=2`,
          json({ Items: [azureItem({ skuName: 'ND96isr H100 v5 Spot', retailPrice: 27.5 })], NextPageLink: null }),
        ],
        [
          hosts.azure,
          json({
            Items: [azureItem({}), azureItem({ armRegionName: 'westus3', retailPrice: 102 })],
            NextPageLink: next,
          }),
        ],
      ]),
    );
    const result = await resultOf(optionsFor('azure', server));
    expect(shown(result)).toEqual([
      'Standard_ND96isr_H100_v5 eastus on-demand 98.32',
      'Standard_ND96isr_H100_v5 westus3 on-demand 102',
      'Standard_ND96isr_H100_v5 eastus spot 27.5',
    ]);
    expect(result.prices[0]).toMatchObject({ provider: 'azure', source: `https://${hosts.azure}`, date: '2026-11-22' });
    expect(server.requested[0]).toBe(
      `${hosts.azure}?$filter=serviceName eq 'Virtual Machines' and priceType eq 'Consumption' and contains(armSkuName, 'Standard_N')`,
    );
  });

  it('takes the port of a next page as that of the host', async () => {
    const withPort = next.replace('.com/', '.com:443/');
    const server = await startPriceServer(
      new Map<string, Route>([
        [`${hosts.azure}?$skip=2`, json({ Items: [azureItem({})], NextPageLink: '' })],
        [hosts.azure, json({ Items: [], NextPageLink: withPort })],
      ]),
    );
    expect((await resultOf(optionsFor('azure', server))).prices).toHaveLength(1);
  });

  it('leaves out Windows, low priority, other units, other currencies, copies and what is not in effect yet', async () => {
    const server = await startPriceServer(
      new Map<string, Route>([
        [
          hosts.azure,
          json({
            Items: [
              azureItem({ productName: 'Virtual Machines NDsr H100 v5 Series Windows' }),
              azureItem({ meterName: 'ND96isr H100 v5 Low Priority' }),
              azureItem({ unitOfMeasure: '1/Month' }),
              azureItem({ currencyCode: 'EUR' }),
              azureItem({ isPrimaryMeterRegion: false }),
              azureItem({ type: 'Reservation' }),
              azureItem({ effectiveStartDate: '2026-12-01T00:00:00Z', retailPrice: 90 }),
              azureItem({ armSkuName: 'Standard_D2s_v5', retailPrice: 0.1 }),
              azureItem({ retailPrice: '98' }),
              azureItem({ effectiveStartDate: '2024-01-01T00:00:00Z', retailPrice: 110 }),
              azureItem({}),
              null,
            ],
          }),
        ],
      ]),
    );
    expect(shown(await resultOf(optionsFor('azure', server)))).toEqual([
      'Standard_ND96isr_H100_v5 eastus on-demand 98.32',
    ]);
  });

  it('asks for the wanted regions', async () => {
    const server = await startPriceServer(new Map([[hosts.azure, json({ Items: [azureItem({})] })]]));
    await resultOf(optionsFor('azure', server, { regions: ["a'b", 'eastus'] }));
    expect(server.requested.map((name) => / and armRegionName.*/.exec(name)?.[0])).toEqual([
      " and armRegionName eq 'a''b'",
      " and armRegionName eq 'eastus'",
    ]);
  });
});

describe("SkyPilot's catalog", () => {
  const header =
    'InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region,AvailabilityZone\n';
  const empty = text(header);

  it('takes the median over the zones, and adds the accelerators to the hosts of Google Cloud', async () => {
    const info = `"{'Gpus': [{'Name': 'L4', 'Count': 1.0}], 'TotalGpuMemoryInMiB': 1}"`;
    const awsRows = [
      `g6.xlarge,L4,1.0,4.0,16.0,${info},0.8048,0.30,us-east-1,use1-az1`,
      `g6.xlarge,L4,1.0,4.0,16.0,${info},0.8048,0.50,us-east-1,use1-az2`,
      `g6.xlarge,L4,1.0,4.0,16.0,${info},0.8048,,us-east-1,use1-az4`,
      'm5.large,,,2.0,8.0,,0.096,0.03,us-east-1,use1-az1',
    ];
    const gcpRows = [
      'a2-highgpu-2g,,,24.0,170.0,,1.47895,0.7395,us-central1,us-central1-a',
      ',A100,2,,,,5.86784,3.5,us-central1,us-central1-a',
      ',A100,1,,,,2.93392,1.75,us-central1,us-central1-a',
      // A host without its accelerators in the region.
      'a2-highgpu-1g,,,12.0,85.0,,0.8328,0.33306,us-west4,us-west4-b',
      ',tpu-v6e-8,1,,,tpu-v6e-8,700.0,,us-central1,us-central1-a',
    ];
    const server = await startPriceServer(
      new Map<string, Route>([
        [skypilotFile('aws'), text(`${header}${awsRows.join('\n')}`)],
        [skypilotFile('gcp'), gzipped(`${header}${gcpRows.join('\r\n')}\r\n`)],
        ...['azure', 'lambda', 'nebius', 'oci'].map((cloud) => [skypilotFile(cloud), empty] as const),
      ]),
    );
    const result = await resultOf(optionsFor('skypilot', server));
    expect(result.problems).toEqual([]);
    expect(shown(result)).toEqual([
      'g6.xlarge us-east-1 on-demand 0.8048',
      'g6.xlarge us-east-1 spot 0.4',
      'a2-highgpu-2g us-central1 on-demand 7.34679',
      'a2-highgpu-2g us-central1 spot 4.2395',
    ]);
    expect(result.prices.map(({ basis }) => basis)).toEqual([
      null,
      'published, median over 2 zones',
      null,
      'published, median over 1 zone',
    ]);
  });
});

describe('Google Cloud', () => {
  // a2-highgpu-1g: 12 cores and 85 GiB.
  const parts = [
    gcpSku('A2 Instance Core running in Americas', 'CPU', 0.031611),
    gcpSku('A2 Instance Ram running in Americas', 'RAM', 0.004237),
    gcpSku('Nvidia Tesla A100 GPU running in Americas', 'GPU', 2.933908),
    gcpSku('Nvidia Tesla A100 80GB GPU running in Americas', 'GPU', 3.92808),
    gcpSku('Spot Preemptible A2 Instance Core running in Americas', 'CPU', 0.01, 'Preemptible'),
    gcpSku('Spot Preemptible A2 Instance Ram running in Americas', 'RAM', 0.001, 'Preemptible'),
    gcpSku('Nvidia Tesla A100 GPU attached to Spot Preemptible VMs running in Americas', 'GPU', 1.2, 'Preemptible'),
  ];
  const others = [
    gcpSku('A2 Custom Instance Core running in Americas', 'CPU', 9),
    gcpSku('Commitment v1: A2 Cpu in Americas', 'CPU', 9, 'Commit1Yr'),
    gcpSku('Reserved A2 Instance Core in Americas', 'CPU', 9),
    gcpSku('DWS Defined Duration A3 Instance Core running in Americas', 'CPU', 9),
    gcpSku('A3 Instance Core running in Belgium', 'CPU', 0.03, 'OnDemand', ['europe-west1']),
  ];

  it('adds up cores, memory and accelerators', async () => {
    const server = await startPriceServer(
      new Map<string, Route>([
        [`${hosts.gcp}?pageSize=5000&pageToken=two`, json({ skus: parts.slice(3), nextPageToken: '' })],
        [hosts.gcp, json({ skus: [...others, ...parts.slice(0, 3)], nextPageToken: 'two' })],
      ]),
    );
    const result = await resultOf(optionsFor('gcp', server));
    expect(result.problems).toEqual([]);
    const found = shown(result);
    // 12 x 0.031611 + 85 x 0.004237 + 2.933908; 12 x 0.01 + 85 x 0.001 + 1.2
    expect(found).toContain('a2-highgpu-1g us-central1 on-demand 3.673385');
    expect(found).toContain('a2-highgpu-1g us-central1 spot 1.405');
    // 12 x 0.031611 + 170 x 0.004237 + 3.92808
    expect(found).toContain('a2-ultragpu-1g us-central1 on-demand 5.027702');
    expect(found.filter((one) => one.startsWith('a3-'))).toEqual([]);
    expect(result.prices.every(({ source }) => source === `https://${hosts.gcp}`)).toBe(true);
  });

  it('sends the key as a header, and needs one', async () => {
    const keys: unknown[] = [];
    const route: Route = (request, response) => {
      keys.push(request.headers['x-goog-api-key']);
      response.end(JSON.stringify({ skus: parts }));
    };
    const server = await startPriceServer(new Map([[hosts.gcp, route]]));
    await resultOf(optionsFor('gcp', server));
    expect(keys).toEqual(['a-key']);
    expect(server.requested.join()).not.toContain('a-key');
    const without = await resultOf(optionsFor('gcp', server, { gcpKey: undefined }));
    expect(without.problems).toEqual([
      'Google Cloud requires an API key: set GPULINT_GCP_API_KEY to one that may use the Cloud Billing API',
    ]);
    expect(keys).toHaveLength(1);
  });
});
