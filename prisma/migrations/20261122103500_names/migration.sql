-- Further names by which clients may call a model.
ALTER TABLE "model" ADD COLUMN "aliases" TEXT[] DEFAULT ARRAY[]::TEXT[];

-- Where a workspace was before it was renamed: its old address leads to the new one.
CREATE TABLE "former_slug" (
  "slug" TEXT NOT NULL PRIMARY KEY,
  "workspace_id" UUID NOT NULL REFERENCES "workspace" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- Calls are also served without their version ("/chat/completions"), so no workspace may live at the first
-- segment of one, nor at an address that the console needs.
DO $$
DECLARE
  found RECORD;
  fresh TEXT;
  n INTEGER;
BEGIN
  FOR found IN SELECT id, slug FROM workspace WHERE slug = ANY (ARRAY[
    'api', 'audio', 'chat', 'docs', 'embeddings', 'files', 'images', 'messages', 'models', 'operations',
    'operator', 'responses', 'sign-in', 'sign-up', 'status', 'v1', 'v1alpha', 'v1beta', 'videos'
  ]) LOOP
    n := 1;
    fresh := found.slug || '-workspace';
    WHILE EXISTS (SELECT FROM workspace WHERE slug = fresh) LOOP
      n := n + 1;
      fresh := found.slug || '-workspace-' || n;
    END LOOP;
    UPDATE workspace SET slug = fresh WHERE id = found.id;
    INSERT INTO former_slug (slug, workspace_id) VALUES (found.slug, found.id);
  END LOOP;
END
$$;
