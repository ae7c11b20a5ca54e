# One image: each container runs one program of it.
FROM node:22-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
# The optional packages hold the compiler for this platform; what only they and the build need is gone from the next stage.
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run build && npm prune --omit=dev --omit=optional --no-audit --no-fund

FROM node:22-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY --from=build /app/tools ./tools
COPY --from=build /app/deploy ./deploy
USER node
ENTRYPOINT ["node"]
CMD ["deploy/docker/service.mjs", "gateway"]
