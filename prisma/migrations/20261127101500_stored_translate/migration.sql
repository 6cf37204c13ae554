-- The key "translate" of a policy, which is null if the policy has none. It is not in the JSON: processes of the version
-- before, which still run during an upgrade, accept only the keys that they know. The default is for the policies that
-- are stored already, and for those that these processes still store.
ALTER TABLE "policy" ADD COLUMN "translate" TEXT DEFAULT 'fallback';

-- The policy of a model inherits it from the default policy of its workspace.
UPDATE "policy" p SET "translate" = NULL WHERE p."model_id" <> ''
  AND EXISTS (SELECT FROM "policy" d WHERE d."workspace_id" = p."workspace_id" AND d."model_id" = '');

-- No call is routed by a draft, so it has the key itself. Publishing it must not remove what the policy has now.
UPDATE "policy_draft" d SET "policy" = d."policy" || '{"translate": "fallback"}'
WHERE jsonb_typeof(d."policy") = 'object' AND NOT d."policy" ? 'translate' AND EXISTS (SELECT FROM "policy" p
  WHERE p."workspace_id" = d."workspace_id" AND p."model_id" = d."model_id" AND p."translate" IS NOT NULL);
