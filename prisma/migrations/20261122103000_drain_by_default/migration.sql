-- A provider works on when its client leaves, unless its catalogue file says `onDisconnect: abort`. A stored row does
-- not tell whether its file said so: applying the file again sets what it means.
ALTER TABLE "provider" ALTER COLUMN "on_disconnect" SET DEFAULT 'drain';
