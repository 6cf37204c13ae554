// The image's health check: exit 0 while the gateway in this container admits new calls.
const answer = await fetch(`http://127.0.0.1:${process.env.PORT ?? 3000}/api/health`).catch(() => null);
process.exit(answer?.status === 200 ? 0 : 1);
