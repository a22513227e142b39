import type { Pattern } from "@/api/patterns";
import { Card } from "@/components/Layout";
import { SafeText } from "@/components/SafeText";
import { useT } from "@/i18n";
import styles from "./Episodes.module.css";
import { conditionText } from "./patternText";
import { Section } from "./Section";

/** What a pattern recommends, and when it applies. */
export function PatternContent({ pattern }: { pattern: Pattern }) {
  const { t, percent } = useT();
  const { applicability: fits, guidance } = pattern;
  const isLimited = fits.complexity_min > 0 || fits.complexity_max < 1;
  const applies: readonly [string, readonly string[]][] = [
    [t("patterns.problem_types"), fits.problem_types],
    [t("patterns.domains"), fits.domains],
    [t("patterns.capabilities"), fits.capabilities],
    [t("patterns.conditions"), fits.conditions.map(conditionText)],
    [t("patterns.anti_conditions"), fits.anti_conditions.map(conditionText)],
    [t("patterns.complexity"), isLimited ? [`${percent(fits.complexity_min)} – ${percent(fits.complexity_max)}`] : []],
  ];
  const shown = applies.filter(([, values]) => values.length > 0);
  return (
    <>
      <Card title={t("patterns.content")} span={2}>
        <div className={styles.details}>
          {(pattern.description || pattern.summary) && <SafeText text={pattern.description || pattern.summary} />}
          <Recommendation content={pattern.content} />
          {guidance.how && <Titled title={t("patterns.how")} text={guidance.how} />}
          {pattern.explanation && <Titled title={t("patterns.explanation")} text={pattern.explanation} />}
          {guidance.risks.length > 0 && <Titled title={t("patterns.risks")} text={guidance.risks.join(" · ")} />}
        </div>
      </Card>
      <Card title={t("patterns.applies")}>
        {guidance.when && <SafeText text={guidance.when} />}
        {shown.length === 0 ? (
          <p className={styles.note}>{t("patterns.applies_always")}</p>
        ) : (
          <dl className={styles.fields}>
            {shown.map(([name, values]) => (
              <div key={name}>
                <dt>{name}</dt>
                {values.map((value) => (
                  <dd key={value}>
                    <code>{value}</code>
                  </dd>
                ))}
              </div>
            ))}
          </dl>
        )}
      </Card>
    </>
  );
}

function Titled({ title, text }: { title: string; text: string }) {
  return (
    <Section title={title}>
      <SafeText text={text} />
    </Section>
  );
}

function Recommendation({ content }: { content: Pattern["content"] }) {
  const { t } = useT();
  switch (content.form) {
    case "strategy":
      return (
        <>
          <div className={styles.lead}>
            <SafeText text={content.approach} />
          </div>
          {content.principles.length > 0 && <Titled title={t("patterns.principles")} text={content.principles.map((each) => `- ${each}`).join("\n")} />}
          {content.trade_offs && <Titled title={t("patterns.trade_offs")} text={content.trade_offs} />}
        </>
      );
    case "heuristic":
      return (
        <>
          <p>
            <code>{conditionText(content.condition)}</code>
          </p>
          <div className={styles.lead}>
            <SafeText text={`→ ${content.action}`} />
          </div>
          {content.rationale && <SafeText text={content.rationale} />}
        </>
      );
    case "template":
      return <Steps steps={content.structure.map((each) => [each.title, each.description])} />;
    case "procedure":
      return <Steps steps={content.steps.map((each) => [each.name, each.action])} />;
  }
}

function Steps({ steps }: { steps: readonly (readonly [string, string])[] }) {
  return (
    <ol className={styles.numbered}>
      {steps.map(([title, text], index) => (
        <li key={index}>
          <strong>{title}</strong> {text}
        </li>
      ))}
    </ol>
  );
}
