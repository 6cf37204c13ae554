import { PlainForm } from '#components/fleet/plain-form';
import type { FormAnswer } from '#components/form/answer';
import { Section } from '#components/section';
import type { FormField } from '#lib/console/form';

interface SuspensionProps {
  /** Slug. */
  workspace: string;
  suspended: boolean;
  /** Reason and contact. */
  fields: readonly FormField[];
  reason: string | null;
  contact: string | null;
  send(workspace: string, input: Readonly<Record<string, unknown>>): Promise<FormAnswer<unknown>>;
}

/** What the members of a suspended workspace read, and the form that suspends one. */
export function Suspension({ workspace, suspended, fields, reason, contact, send }: SuspensionProps) {
  return (
    <Section
      title="Suspension"
      note={suspended ? 'Members read this in their console' : 'Refuses every call'}
    >
      <PlainForm
        workspace={workspace}
        fields={fields.map((field) => ({ ...field, required: true }))}
        initial={{ suspendedReason: reason ?? '', suspendedContact: contact ?? '' }}
        besides={{ suspended: 'on' }}
        verb={
          suspended
            ? { idle: 'Save reason and contact', pending: 'Saving…' }
            : { idle: 'Suspend workspace', pending: 'Suspending…' }
        }
        missing="Required: the members of the workspace read it."
        {...(suspended ? {} : { question: 'Refuse every call of this workspace?', danger: true })}
        done={suspended ? 'Reason and contact saved' : 'The workspace is suspended'}
        send={send}
      />
    </Section>
  );
}
