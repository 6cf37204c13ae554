# The gateway with its console. Nothing in the image is written at run time but /data, so that the root file system can
# be read-only. `docker build -t model-gateway .`; docs/guide/deployment.md tells how to run it.
FROM node:24-bookworm-slim AS build
WORKDIR /src
ENV NEXT_TELEMETRY_DISABLED=1 CHECKPOINT_DISABLE=1
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --omit=dev --no-audit --no-fund
COPY . .
RUN node scripts/image/assemble.mjs /image && mkdir /empty

FROM gcr.io/distroless/nodejs24-debian12:nonroot
WORKDIR /app
COPY --from=build /image /app
# A new volume takes over the owner of the folder that it covers.
COPY --from=build --chown=65532:65532 /empty /data
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data NEXT_TELEMETRY_DISABLED=1
VOLUME /data
EXPOSE 3000
USER 65532:65532
# Running calls have 60 s after SIGTERM, and the books 12 s.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --retries=3 \
  CMD ["/nodejs/bin/node", "scripts/image/health.mjs"]
ENTRYPOINT ["/nodejs/bin/node", "--disable-warning=ExperimentalWarning"]
CMD ["--max-semi-space-size=64", "--heap-growing-percent=200", "--expose-gc", "dist/server.js"]
