import { actor, type Command, CommandRefused, readSwitch } from '#lib/command/command';
import { type CreateUserInput, createUser } from '#lib/verbs/user';

const roles = ['owner', 'admin', 'developer', 'billing', 'viewer'] as const;

function readRole(text: string | undefined): Pick<CreateUserInput, 'role'> {
  if (text === undefined) return {};
  const role = roles.find((one) => one === text);
  if (!role) throw new CommandRefused(`--role: a role is one of ${roles.join(', ')}`);
  return { role };
}

export const user: readonly Command[] = [
  {
    name: 'user create',
    usage: `--email E --password P [--name N] [--workspace SLUG --role ${roles.join('|')}] [--operator on|off]`,
    positionals: [],
    options: ['email', 'password', 'name', 'workspace', 'role', 'operator'],
    required: ['email', 'password'],
    run: async (context, input) => {
      const { email = '', password = '', name, workspace, role } = input.options;
      const operator = readSwitch(input, 'operator');
      if (role !== undefined && workspace === undefined) {
        throw new CommandRefused('--role needs --workspace: say where the user has that role');
      }
      const made = await createUser(await context.db(), actor, {
        email,
        password,
        ...(name === undefined ? {} : { name }),
        ...(workspace === undefined ? {} : { workspace }),
        ...(operator === undefined ? {} : { operator }),
        ...readRole(role),
      });
      await context.announce();
      return { json: made, text: `user ${made.email} created (${made.id})` };
    },
  },
];
