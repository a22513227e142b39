import { MessageCircleQuestion, SearchX } from "lucide-react";
import { useEffect, useState } from "react";
import { Link, useSearchParams } from "wouter";
import { useAnswer, type Citation } from "@/api/ask";
import { pagePath } from "@/app/pages";
import { useProject } from "@/app/project";
import { Button } from "@/components/Button";
import { Checkbox } from "@/components/Checkbox";
import { TextField } from "@/components/Fields";
import { Card, PageFrame } from "@/components/Layout";
import { EmptyState, ProblemView, Skeleton } from "@/components/States";
import { useT } from "@/i18n";
import { Answer } from "./Answer";
import styles from "./Ask.module.css";
import { SourceDrawer } from "./SourceDrawer";

/** A question, the stored passages that answer it, and what a language model writes from them. */
export default function AskPage() {
  const { t } = useT();
  const [parameters, setParameters] = useSearchParams();
  const question = parameters.get("q") ?? "";
  const isWithOutside = parameters.get("outside") === "1";
  const [text, setText] = useState(question);
  const [opened, setOpened] = useState<Citation | null>(null);
  const answer = useAnswer(question, isWithOutside);
  useEffect(() => setText(question), [question]);

  const ask = (asked: string, outside = isWithOutside) => setParameters({ ...(asked && { q: asked }), ...(outside && { outside: "1" }) });
  return (
    <PageFrame title={t("nav.ask")} lead={t("ask.lead")}>
      <div className={styles.page}>
        <Card>
          <form
            className={styles.form}
            onSubmit={(event) => {
              event.preventDefault();
              ask(text.trim());
            }}
          >
            <TextField label={t("ask.question")} value={text} onChange={setText} placeholder={t("ask.placeholder")} />
            <div className={styles.bar}>
              <Button type="submit" variant="primary" isDisabled={text.trim() === ""}>
                {t("ask.ask")}
              </Button>
              <Checkbox isSelected={isWithOutside} onChange={(outside) => ask(question, outside)}>
                {t("ask.outside")}
              </Checkbox>
            </div>
          </form>
        </Card>
        <div aria-live="polite" aria-busy={answer.isFetching} className={styles.page}>
          {question === "" && (
            <EmptyState icon={MessageCircleQuestion} title={t("ask.empty")}>
              {t("ask.empty_why")}
            </EmptyState>
          )}
          {question !== "" && answer.isPending && <Skeleton lines={5} />}
          {answer.isError && <ProblemView error={answer.error} onRetry={() => void answer.refetch()} />}
          {answer.data && !answer.data.quoted.found && <NotFound question={question} />}
          {answer.data?.quoted.found && <Answer answer={answer.data} onOpen={setOpened} />}
        </div>
      </div>
      <SourceDrawer citation={opened} onClose={() => setOpened(null)} />
    </PageFrame>
  );
}

function NotFound({ question }: { question: string }) {
  const { t } = useT();
  const project = useProject();
  return (
    <EmptyState
      icon={SearchX}
      title={t("ask.not_found")}
      action={
        <div className={styles.bar}>
          <Link href={pagePath(project, "browse", { q: question })}>{t("ask.browse")}</Link>
          <Link href={pagePath(project, "teach")}>{t("ask.teach")}</Link>
        </div>
      }
    >
      {t("ask.not_found_why")}
    </EmptyState>
  );
}
