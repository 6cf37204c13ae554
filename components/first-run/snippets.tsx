import { curlSnippet, type SnippetFacts } from '#components/keys/snippets';

interface Snippet {
  readonly value: string;
  readonly label: string;
  readonly code: string;
}

/** A first call in several languages, with this gateway's address and a model that it has. */
export function languageSnippets(facts: SnippetFacts): readonly Snippet[] {
  const { baseUrl, model } = facts;
  const [address, name] = [JSON.stringify(`${baseUrl}/v1`), JSON.stringify(model)];
  return [
    { value: 'curl', label: 'curl', code: curlSnippet('YOUR_API_KEY', facts) },
    {
      value: 'python',
      label: 'Python',
      code: [
        'from openai import OpenAI',
        '',
        `client = OpenAI(base_url=${address}, api_key="YOUR_API_KEY")`,
        'answer = client.chat.completions.create(',
        `    model=${name},`,
        '    messages=[{"role": "user", "content": "Say hello."}],',
        ')',
        'print(answer.choices[0].message.content)',
      ].join('\n'),
    },
    {
      value: 'typescript',
      label: 'TypeScript',
      code: [
        "import OpenAI from 'openai';",
        '',
        `const client = new OpenAI({ baseURL: ${address}, apiKey: 'YOUR_API_KEY' });`,
        'const answer = await client.chat.completions.create({',
        `  model: ${name},`,
        "  messages: [{ role: 'user', content: 'Say hello.' }],",
        '});',
        'console.log(answer.choices[0]?.message.content);',
      ].join('\n'),
    },
  ];
}
