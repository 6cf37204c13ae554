import type { ModelFacts } from '#lib/core/facts/snapshot';
import type { FamilyId } from '#lib/core/families/ids';

/** A model with the protocols in which it can be called, by translation too. */
export interface CallableModel extends ModelFacts {
  readonly families: ReadonlySet<FamilyId>;
}

/** Behind Codex's own models, whose first is its default. */
const FIRST_PRIORITY = 1_000;

/**
 * Instructions to the model: Codex sends those of the entry in place of its own, and an entry must have some. It adds
 * by itself what it says of the sandbox, approvals and the repository's own instructions.
 */
const instructions = `You are a coding agent in the Codex CLI. You and the user share one workspace on the user's machine.

- Work on the user's request until it is done. Ask only when you cannot find out what you need by yourself.
- Read before you change: look at the code around, and follow the instructions and the style of the repository.
- Use the tools that you are given to read, to search (prefer \`rg\`), to change files and to run commands.
- Change what the request needs and nothing else. Never undo changes that are not yours.
- Keep a plan of the steps where a task has several, and update it as you go.
- Check your work with the tests or the build of the repository where there are any.
- Never run destructive commands or commit unless the user asks for it.
- When you are done, say briefly what you changed, where, and what you could not check.`;

/**
 * The list as Codex reads it (contract: families/codex-list). Every member that any of its versions requires is there,
 * with the values that it assumes of a model that it does not know, but for the size of the context and the inputs.
 * Models of OpenAI are left out: it knows them by the part after the slash, with its own instructions to them.
 * @param models those of the page.
 */
export function codexList(models: readonly CallableModel[]): readonly object[] {
  return models
    .filter(({ id, families }) => !id.startsWith('openai/') && families.has('responses'))
    .map(codexEntry);
}

function codexEntry(model: ModelFacts, index: number): object {
  const context = model.contextTokens || null;
  return {
    slug: model.id,
    display_name: model.name,
    description: null,
    supported_reasoning_levels: [],
    shell_type: 'shell_command',
    visibility: 'list',
    supported_in_api: true,
    priority: FIRST_PRIORITY + index,
    availability_nux: null,
    upgrade: null,
    base_instructions: instructions,
    model_messages: { instructions_template: instructions },
    supports_reasoning_summaries: false,
    supports_reasoning_summary_parameter: false,
    default_reasoning_summary: 'none',
    support_verbosity: false,
    default_verbosity: null,
    apply_patch_tool_type: null,
    truncation_policy: { mode: 'bytes', limit: 10_000 },
    supports_parallel_tool_calls: false,
    context_window: context,
    max_context_window: context,
    experimental_supported_tools: [],
    input_modalities: ['text', 'image'].filter((kind) => model.input.includes(kind)),
  };
}
