import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { settingsSchema } from '#lib/core/schemas/settings';
import { readEnv } from '#lib/platform/env/env';
import { secretNames } from '#lib/platform/env/env-secrets';
import {
  documents,
  kubernetesService,
  kustomization,
  proxied,
  read,
  renderedCompose,
  type Service,
  statefulSet,
  unit,
} from '#tests/unit/deploy/shipped';

const known = new Set(Object.keys(settingsSchema.shape));
const unknown = (names: Iterable<string>) => [...names].filter((name) => !known.has(name));
const { version } = JSON.parse(read('package.json'));
const secrets = Object.fromEntries(secretNames.map((name) => [name, 'f'.repeat(64)]));
const defaults = settingsSchema.parse({});
/** Running calls have 60 s after the delay, closing the books 10 s (contract: durability/stop). */
const stopSeconds = 60 + 10;
const dockerfile = read('Dockerfile');
const inImage = (name: string) => new RegExp(`\\b${name}=(\\S+)`).exec(dockerfile)?.[1];

describe('compose.yaml', () => {
  const project = renderedCompose({ POSTGRES_PASSWORD: 'p', ...secrets });
  const gateways = Object.entries(project.services).filter(([name]) => name.startsWith('gateway-'));
  const environment = (one: Service) =>
    Object.fromEntries(Object.entries(one.environment).map(([name, value]) => [name, String(value)]));

  it('starts gateways with settings that there are, complete and right (contract: operations/settings)', () => {
    expect(gateways.length).toBe(2);
    for (const [, one] of gateways) {
      expect(unknown(Object.keys(one.environment))).toEqual([]);
      expect(one.env_file).toEqual(['.env']);
      expect(readEnv(environment(one))).toMatchObject({ port: 3000, host: '0.0.0.0', dataDir: '/data' });
      expect(one.image).toBe(`model-gateway:${version}`);
    }
  });

  it('does not start without the secrets and the password', () => {
    for (const name of ['POSTGRES_PASSWORD', ...secretNames]) {
      const { [name]: _, ...rest } = { POSTGRES_PASSWORD: 'p', ...secrets } as Record<string, string>;
      expect(() => renderedCompose(rest)).toThrow(name);
    }
  });

  it('asks in .env for nothing but settings of the gateway and its own four', () => {
    const asked = [...read('compose.yaml').matchAll(/\$\{([A-Z_]+)/g)].map(([, name = '']) => name);
    expect(new Set(unknown(asked))).toEqual(new Set(['POSTGRES_PASSWORD', 'GATEWAY_PORT', 'GATEWAY_DOMAIN']));
  });

  it('keeps the data of each gateway in a volume of its own, and lets it stop in order', () => {
    const mounts = gateways.map(
      ([
        ,
        {
          volumes,
          environment: { DATA_DIR },
        },
      ]) => {
        const [volume = '', at] = volumes[0]?.split(':') ?? [];
        expect(at).toBe(DATA_DIR);
        expect(Object.keys(project.volumes)).toContain(volume);
        return volume;
      },
    );
    expect(new Set(mounts).size).toBe(mounts.length);
    for (const [
      ,
      {
        stop_grace_period,
        environment: { SHUTDOWN_DELAY_SECONDS },
      },
    ] of gateways) {
      expect(Number.parseInt(stop_grace_period ?? '', 10)).toBeGreaterThanOrEqual(
        Number(SHUTDOWN_DELAY_SECONDS) + stopSeconds,
      );
    }
  });

  it('has proxies that name its gateways and their port, and files that there are', () => {
    const addresses = gateways.map(
      ([
        name,
        {
          environment: { PORT },
        },
      ]) => `${name}:${PORT}`,
    );
    const upstreams = [...read('deploy/nginx.conf').matchAll(/^\s*server (\S+:\d+) /gm)].map(
      ([, one]) => one,
    );
    expect(upstreams).toEqual(addresses);
    expect(project.services.tls?.environment.GATEWAYS).toBe(addresses.join(' '));
    const [, listens] = /listen (\d+);/.exec(read('deploy/nginx.conf')) ?? [];
    expect(project.services.proxy?.ports).toEqual([`8080:${listens}`]);
    for (const { volumes, depends_on } of Object.values(project.services)) {
      for (const name of Object.keys(depends_on)) expect(Object.keys(project.services)).toContain(name);
      for (const [from = ''] of volumes.map((one) => one.split(':')))
        if (from.startsWith('./')) expect(() => read(from.slice(2))).not.toThrow();
    }
    expect(dockerfile).toContain('\nHEALTHCHECK');
  });
});

describe('the manifests of Kubernetes', () => {
  const base = documents('deploy/kubernetes/base/gateway.yaml');
  const set = statefulSet.parse(base[0]);
  const pod = set.spec.template.spec;
  const [gateway] = pod.containers;
  const env = Object.fromEntries(gateway.env.map(({ name, value }) => [name, value]));
  const services = base.flatMap((one) => kubernetesService.safeParse(one).data ?? []);
  const example = kustomization.parse(documents('deploy/kubernetes/example/kustomization.yaml')[0]);
  const literals = example.configMapGenerator.flatMap((one) => one.literals.map((text) => text.split('=')));

  it('start gateways with settings that there are, the rest from config map and secret', () => {
    expect(unknown([...Object.keys(env), ...literals.map(([name = '']) => name)])).toEqual([]);
    expect(gateway.envFrom).toEqual([
      { configMapRef: { name: 'gateway' } },
      { secretRef: { name: 'gateway' } },
    ]);
    expect(example.configMapGenerator.map(({ name }) => name)).toEqual(['gateway']);
    // No address of a public page is fixed where everybody takes the files from.
    expect(Object.keys(env)).not.toContain('NEXTAUTH_URL');
    expect(literals.map(([name]) => name)).toContain('NEXTAUTH_URL');
    const given = {
      ...env,
      ...Object.fromEntries(literals),
      ...secrets,
      DATABASE_URL: 'postgresql://db/gateway',
    };
    expect(readEnv(given)).toMatchObject({ port: 3000, dataDir: '/data' });
  });

  it('fit the image: version, user, port and folder of the data', () => {
    for (const folder of ['base', 'example']) {
      const { images } = kustomization.parse(documents(`deploy/kubernetes/${folder}/kustomization.yaml`)[0]);
      expect(images[0]).toMatchObject({ name: gateway.image, newTag: version });
    }
    expect(gateway.imagePullPolicy).toBe('IfNotPresent');
    expect(dockerfile).toContain(`\nUSER ${pod.securityContext.runAsUser}:${pod.securityContext.fsGroup}\n`);
    expect(env).toMatchObject({ PORT: inImage('PORT'), DATA_DIR: inImage('DATA_DIR') });
    expect(gateway.ports).toEqual([{ name: 'http', containerPort: Number(env.PORT) }]);
    const [{ metadata }] = set.spec.volumeClaimTemplates;
    expect(gateway.volumeMounts).toContainEqual({ name: metadata.name, mountPath: env.DATA_DIR });
    expect(read('scripts/image/health.mjs')).toContain(gateway.readinessProbe.httpGet?.path);
  });

  it('ask for health where the gateway tells it (contract: operations/health)', () => {
    const health = { httpGet: { path: '/api/health', port: 'http' } };
    expect(gateway.startupProbe).toEqual(health);
    expect(gateway.readinessProbe).toEqual(health);
    // A process that is not ready is not restarted.
    expect(gateway.livenessProbe).toEqual({ tcpSocket: { port: 'http' } });
    expect(read('docs/contract/operations.md')).toContain(`GET ${health.httpGet.path}`);
  });

  it('give a pod the time that an orderly stop takes (contract: durability/stop)', () => {
    const [, pauseMs = ''] =
      /setTimeout\(.*, (\d+)\)/.exec(gateway.lifecycle.preStop.exec.command.join(' ')) ?? [];
    const needed = Number(pauseMs) / 1000 + Number(env.SHUTDOWN_DELAY_SECONDS) + stopSeconds;
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(needed);
  });

  it('lead from the ingress and the monitor to the pods', () => {
    const { labels } = set.spec.template.metadata;
    expect(set.spec.selector.matchLabels).toEqual(labels);
    expect(services.map(({ metadata }) => metadata.name)).toEqual(['gateway', set.spec.serviceName]);
    for (const { spec } of services) {
      expect(spec.selector).toEqual(labels);
      expect(spec.ports[0]).toMatchObject({ name: 'http', targetPort: 'http' });
    }
    expect(JSON.stringify(base[3])).toContain(JSON.stringify({ matchLabels: labels }));
    const [ingress] = documents('deploy/kubernetes/example/ingress.yaml');
    const text = JSON.stringify(ingress);
    expect(text).toContain('"service":{"name":"gateway","port":{"name":"http"}}');
    expect(text).toContain(`proxy-body-size":"${defaults.MAX_UPLOAD_BYTES / 1024 ** 2}m"`);
    expect(text).toContain(`"host":"${new URL(literals[0]?.[1] ?? '').host}"`);
    expect(documents('deploy/kubernetes/example/pod-monitor.yaml')[0]).toMatchObject({
      spec: {
        selector: { matchLabels: labels },
        podMetricsEndpoints: [
          {
            port: 'http',
            path: '/api/metrics',
            authorization: { type: 'Bearer', credentials: { name: 'gateway', key: 'METRICS_TOKEN' } },
          },
        ],
      },
    });
  });

  it.skipIf(spawnSync('kubectl', ['version', '--client']).status !== 0)(
    'are put together by kubectl (needs kubectl)',
    () => {
      const folder = fileURLToPath(new URL('../../../deploy/kubernetes/example', import.meta.url));
      const { status, stdout, stderr } = spawnSync('kubectl', ['kustomize', folder], { encoding: 'utf8' });
      expect(status, stderr).toBe(0);
      expect(stdout).toContain(`image: ${example.images[0].newName}:${version}`);
      const [, made] = /kind: ConfigMap\nmetadata:\n {2}name: (gateway-\w+)/.exec(stdout) ?? [];
      expect(stdout).toContain(`configMapRef:\n            name: ${made}`);
    },
  );
});

describe('the files of a Linux host', () => {
  const service = unit('deploy/systemd/model-gateway@.service');
  const [settings = ''] = service.get('Environment') ?? [];
  const env = Object.fromEntries(settings.split(' ').map((one) => one.split('=')));
  const upstreams = (text: string) => [...text.matchAll(/127\.0\.0\.1:(\d+)/g)].map(([, port]) => port);

  it('the unit sets settings that there are, and keeps the data of each process apart', () => {
    expect(unknown(Object.keys(env))).toEqual([]);
    expect(env.PORT).toBe('%i');
    expect(env.DATA_DIR).toBe(`/var/lib/${service.get('StateDirectory')?.[0]}`);
    expect(env.DATA_DIR).toContain('%i');
    const [, program = ''] = service.get('ExecStart')?.[0]?.split(' ') ?? [];
    expect(existsSync(program)).toBe(true);
    expect(Number(service.get('TimeoutStopSec'))).toBeGreaterThan(
      Number(env.SHUTDOWN_DELAY_SECONDS) + stopSeconds,
    );
  });

  it.skipIf(spawnSync('systemd-analyze', ['--version']).status !== 0)(
    'systemd finds no fault in the unit (needs systemd-analyze)',
    () => {
      const path = fileURLToPath(new URL('../../../deploy/systemd/model-gateway@.service', import.meta.url));
      const { stderr } = spawnSync('systemd-analyze', ['verify', path], { encoding: 'utf8' });
      // What it starts may not be on this machine.
      expect(
        stderr.split('\n').filter((line) => line.includes('.service:') && line.includes('ignoring')),
      ).toEqual([]);
    },
  );

  it('the proxies name the ports of the page and of Prometheus', () => {
    const page = read('docs/guide/linux.md');
    const [, caddy = ''] = /\{\$GATEWAYS:([^}]*)\}/.exec(read('deploy/Caddyfile')) ?? [];
    const ports = upstreams(caddy);
    expect(ports).toEqual(['3001', '3002']);
    expect(upstreams(read('deploy/nginx-site.conf'))).toEqual(ports);
    expect(upstreams(read('deploy/prometheus/scrape.yaml'))).toEqual(ports);
    expect(page).toContain(
      `systemctl enable --now ${ports.map((port) => `model-gateway@${port}`).join(' ')}`,
    );
  });

  it('both configurations of nginx treat calls alike, with the limits of the gateway', () => {
    expect(proxied('deploy/nginx-site.conf')).toEqual(proxied('deploy/nginx.conf'));
    expect(proxied('deploy/nginx.conf')).toContain('proxy_buffering off;');
    for (const file of ['deploy/nginx.conf', 'deploy/nginx-site.conf']) {
      expect(read(file)).toContain(`client_max_body_size ${defaults.MAX_UPLOAD_BYTES / 1024 ** 2}m;`);
      expect(read(file)).toContain('keepalive_timeout 60s;');
    }
    // A log with the query would keep the tokens of links in mail.
    expect(read('deploy/nginx-site.conf')).not.toMatch(/\$request\b|\$args|log .*\$request_uri/);
  });
});
