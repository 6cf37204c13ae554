import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';

/** A file of the project as text. */
export const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

/** Every YAML document of a file, with `<<` merged. */
export const documents = (path: string): unknown[] =>
  parseAllDocuments(read(path), { merge: true }).map((one) => {
    if (one.errors[0]) throw one.errors[0];
    return one.toJS();
  });

const service = z.looseObject({
  image: z.string(),
  environment: z.record(z.string(), z.union([z.string(), z.number()])).default({}),
  env_file: z.array(z.string()).optional(),
  volumes: z.array(z.string()).default([]),
  ports: z.array(z.string()).default([]),
  depends_on: z.record(z.string(), z.unknown()).default({}),
  stop_grace_period: z.string().optional(),
});
const compose = z.object({
  'x-gateway': z.unknown(),
  services: z.record(z.string(), service),
  volumes: z.record(z.string(), z.null()),
});
export type Service = z.infer<typeof service>;

/** `compose.yaml` as Compose renders it with these variables: an unset one takes its default. */
export function renderedCompose(variables: Readonly<Record<string, string>>) {
  const render = (text: string) =>
    text.replaceAll(
      /\$\{([A-Z_]+)(?::(-|\?)([^}]*))?\}/g,
      (_, name: string, kind: string, otherwise: string) => {
        const value = variables[name] ?? (kind === '-' ? otherwise : undefined);
        if (value === undefined) throw new Error(`${name} is not set`);
        return value;
      },
    );
  const walk = (value: unknown): unknown => {
    if (typeof value === 'string') return render(value);
    if (Array.isArray(value)) return value.map(walk);
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, walk(one)]));
  };
  return compose.parse(walk(documents('compose.yaml')[0]));
}

const probe = z.object({
  httpGet: z.object({ path: z.string(), port: z.string() }).optional(),
  tcpSocket: z.object({ port: z.string() }).optional(),
});
const container = z.looseObject({
  image: z.string(),
  imagePullPolicy: z.string(),
  ports: z.array(z.object({ name: z.string(), containerPort: z.number() })),
  envFrom: z.array(z.record(z.string(), z.object({ name: z.string() }))),
  env: z.array(z.object({ name: z.string(), value: z.string() })),
  startupProbe: probe,
  readinessProbe: probe,
  livenessProbe: probe,
  lifecycle: z.object({ preStop: z.object({ exec: z.object({ command: z.array(z.string()) }) }) }),
  volumeMounts: z.array(z.object({ name: z.string(), mountPath: z.string() })),
});
export const statefulSet = z.looseObject({
  kind: z.literal('StatefulSet'),
  spec: z.looseObject({
    serviceName: z.string(),
    selector: z.object({ matchLabels: z.record(z.string(), z.string()) }),
    template: z.object({
      metadata: z.object({ labels: z.record(z.string(), z.string()) }),
      spec: z.looseObject({
        terminationGracePeriodSeconds: z.number(),
        securityContext: z.looseObject({ runAsUser: z.number(), fsGroup: z.number() }),
        containers: z.tuple([container]),
      }),
    }),
    volumeClaimTemplates: z.tuple([z.looseObject({ metadata: z.object({ name: z.string() }) })]),
  }),
});
export const kubernetesService = z.looseObject({
  kind: z.literal('Service'),
  metadata: z.looseObject({ name: z.string() }),
  spec: z.looseObject({
    selector: z.record(z.string(), z.string()),
    ports: z.tuple([z.looseObject({ name: z.string(), targetPort: z.string() })]),
  }),
});
export const kustomization = z.looseObject({
  resources: z.array(z.string()),
  images: z.tuple([z.looseObject({ name: z.string(), newName: z.string().optional(), newTag: z.string() })]),
  configMapGenerator: z.array(z.object({ name: z.string(), literals: z.array(z.string()) })).default([]),
});

/** The directives of nginx inside `location / { … }`, one a line. */
export function proxied(path: string): string[] {
  const [, inside = ''] = /location \/ \{\n([\s\S]*?)\n\s*\}/.exec(read(path)) ?? [];
  return inside
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}

/** `NAME=value` of a systemd unit, the names in order; a repeated one keeps every value. */
export function unit(path: string): ReadonlyMap<string, readonly string[]> {
  const lines = [...read(path).matchAll(/^([A-Za-z]+)=(.*)$/gm)];
  const values = new Map<string, string[]>();
  for (const [, name = '', value = ''] of lines) values.set(name, [...(values.get(name) ?? []), value]);
  return values;
}
