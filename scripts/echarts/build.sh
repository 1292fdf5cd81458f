#!/bin/sh
# Builds the part of Apache ECharts that the report's page uses, as echarts.js says which, into
# internal/report/assets/echarts.min.js. Run it after a change of echarts.js or of a version in
# package.json, and commit the result. It needs Node.js and the npm registry.
set -eu
cd "$(dirname "$0")"
npm ci --no-audit --no-fund
npx esbuild echarts.js --bundle --minify --format=iife --global-name=echarts --target=es2020 \
  --legal-comments=eof "--banner:js=$(cat licence.txt)" \
  --outfile=../../internal/report/assets/echarts.min.js
