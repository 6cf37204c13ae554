import { CodeBlock } from '#components/ui/code-block';
import { Tabs } from '#components/ui/tabs';

/** An example with the model and the URL filled in. */
export interface ShownSnippet {
  readonly name: string;
  /** "OpenAI, Python": the SDK, and its language if there are several. */
  readonly label: string;
  readonly code: string;
}

/** Examples by SDK. */
export function ModelSnippets({ snippets }: { snippets: readonly ShownSnippet[] }) {
  const sdks = [...new Set(snippets.map(({ label }) => sdkOf(label)))];
  return (
    <Tabs
      label="SDK"
      tabs={sdks.map((sdk) => ({
        value: sdk,
        label: sdk,
        content: (
          <div className="grid min-w-0 gap-3">
            {snippets
              .filter(({ label }) => sdkOf(label) === sdk)
              .map(({ name, label, code }) => (
                <div key={name} className="grid min-w-0 gap-1">
                  {label === sdk ? null : <p className="text-muted text-xs">{label.split(', ')[1]}</p>}
                  <CodeBlock code={code} what={label} />
                </div>
              ))}
            <p className="text-muted text-xs">
              <code className="font-mono">GATEWAY_API_KEY</code> contains your workspace’s API key.
            </p>
          </div>
        ),
      }))}
    />
  );
}

function sdkOf(label: string): string {
  return label.split(', ')[0] ?? label;
}
