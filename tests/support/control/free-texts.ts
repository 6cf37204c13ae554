/**
 * Fields with free text, as `operation.field`. The browser test of markup fills each of them; a field that is
 * on neither list fails tests/unit/control/free-texts.spec.ts.
 */
export const freeTexts = [
  ...['key.create.name', 'key.set.name', 'management-key.create.name'],
  ...['policy.set.policy', 'policy.publish.policy', 'policy.save.policy'],
  ...['workspace.create.name', 'workspace.open.name', 'workspace.set.name'],
  ...['workspace.set.suspendedReason', 'workspace.set.suspendedContact'],
  ...['user.create.name', 'user.rename.name', 'user.enter.name', 'user.sign-up.name'],
  'invitation.join.name',
  ...['session.start.userAgent', 'webhook.create.url', 'credit.add.reason', 'credit.promo.reason'],
  ...['view.create.name', 'view.rename.name', 'feedback.set.label', 'feedback.set.text'],
  'tag-budget.create.value',
  ...['incident.create.title', 'incident.create.text', 'incident.update.text', 'incident.resolve.text'],
] as const;

/** Strings that are not stored, in which markup is refused, or that only operators write. */
export const closedTexts = [
  ...[
    'workspace.create.timeZone',
    'workspace.set.timeZone',
    'workspace.open.timeZone',
    'workspace.rename.slug',
  ],
  ...[
    'workspace.delete.confirm',
    'secret.accept.confirm',
    'member.leave.workspace',
    'member.transfer.workspace',
  ],
  ...[
    'user.sign-up.timeZone',
    'user.first-operator.timeZone',
    'user.enter.timeZone',
    'user.enter.subject',
    'user.link.subject',
  ],
  ...['policy.set.model', 'policy.publish.model', 'policy.save.model', 'policy.rollback.model'],
  ...['policy.discard.model', 'session.start.method', 'webhook.redeliver.delivery'],
  ...['own-key.create.address', 'own-key.create.name', 'own-key.create.provider'],
  // Filters of the log: the audit log keeps them as JSON.
  ...[
    'after',
    'clientRequestId',
    'countedModel',
    'customId',
    'endUser',
    'errorCode',
    'feedbackLabel',
    'id',
    'member',
    'model',
    'provider',
    'status',
    'tag',
    'upstreamRequestId',
  ].flatMap((filter) => [`content.export.${filter}`, `content.search.${filter}`]),
  // What is searched for may be a secret that leaked; it is not recorded.
  'content.search.text',
  'tag-budget.create.tag',
  // Parameters of a page, encoded.
  'view.create.query',
  'incident.create.affects',
  ...['credit.add.ref', 'credit.promo.ref'],
  ...['provider.set-credential.provider', 'provider.set-credential.env', 'provider.test.provider'],
  ...['provider.set-credential.name', 'provider.test.name'],
  ...['provider.add.id', 'provider.add.name', 'provider.add.url', 'provider.add.env'],
  ...['provider.discover.provider', 'provider.offer.provider', 'provider.offer.models'],
  ...['provider.set.provider', 'provider.set.name', 'provider.set.url', 'provider.set.pricesFrom'],
  'provider.withdraw.provider',
  ...['tenant', 'clientId', 'accessKeyId', 'role', 'externalId'].map(
    (part) => `provider.set-credential.${part}`,
  ),
  // By operators alone: everybody's console shows it, other tests' too; files are checked by a schema.
  'announcement.create.text',
  ...['catalogue.accept.proposals', 'catalogue.dismiss.proposals'],
  ...['catalogue.apply.files', 'catalogue.take-over.files', 'catalogue.take-over.changed'],
  ...['price.set.model', 'price.set.provider', 'price.set.price'],
] as const;
