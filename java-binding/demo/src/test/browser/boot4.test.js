// The Boot 4 demo's page in a real browser: node boot4.test.js URL [folder for screenshots]
// Starts no server. CHROMIUM names the browser's executable (default /usr/bin/chromium).
'use strict';
const assert = require('node:assert/strict');
const path = require('node:path');
const { after, before, test } = require('node:test');
const { chromium } = require('playwright-core');

const [url, screenshots] = process.argv.slice(2);
if (!url) {
  console.error('usage: node boot4.test.js URL [folder for screenshots]');
  process.exit(2);
}

const TRIES = 20; // a stalled machine can miss a window; then the next one is tried

let browser;
let page;

before(async () => {
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync'],
  });
  page = await browser.newPage({ viewport: { width: 1000, height: 760 } });
  await page.goto(url);
  await page.fill('#user', `browser-${process.pid}-${Date.now()}`);
});

after(() => browser && browser.close());

/** Presses a button and gives what stands beside it once the answer is there. */
async function press(label) {
  const section = page.locator('section', { has: page.getByRole('button', { name: label }) });
  const [response] = await Promise.all([page.waitForResponse(/\/api\//), section.getByRole('button').click()]);
  await response.finished();
  await page.waitForFunction((status) => [...document.querySelectorAll('output')].some((o) => o.textContent.startsWith(status)),
    String(response.status()));
  return { status: response.status(), text: await section.locator('output').innerText() };
}

/** Presses again and again until an answer is of a kind. */
async function until(label, matches) {
  for (let i = 0; i < TRIES; i++) {
    const answer = await press(label);
    if (matches(answer)) return answer;
  }
  throw new Error(`no such answer to "${label}" in ${TRIES} tries`);
}

for (const label of ['Search orders', 'Cancel order o1']) {
  test(`${label} twice: 429, when to come back, and why`, async () => {
    const { text } = await until(label, (answer) => answer.status === 429);
    assert.match(text, /^429\nRetry-After: \d+\nRateLimit: "shop\.OrderController\.[a-z.]+";r=0;t=\d+\nYou are doing this too often/);
  });
}

test('The price: the fallback answers when the service is limited', async () => {
  const { status, text } = await until('Ask the price of tea', (answer) => /last known/.test(answer.text));
  assert.equal(status, 200);
  assert.match(text, /"cents":\d+,"source":"last known, ask again in \d+ ms"/);
  if (screenshots) await page.screenshot({ path: path.join(screenshots, 'boot4.png') });
});

test('The report lists every guarded method', async () => {
  const report = await (await fetch(new URL('/actuator/tollgate', url))).text();
  for (const method of ['OrderController.search', 'OrderController.cancel', 'OrderController.articles', 'PriceService.of']) {
    assert.ok(report.includes(method), `${method} isn't in ${report}`);
  }
});
